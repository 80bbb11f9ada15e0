package certify_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/checker"
)

// TestFailsAreProven: every fail in the checker's corpus of a rule that has a proof is proven.
func TestFailsAreProven(t *testing.T) {
	rules := []checker.Property{
		checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured, checker.Ownership, checker.TruthfulReplies,
		checker.ResourceSafety, checker.Fencing, checker.CounterSafety, checker.SingleWinner,
	}
	unproven := map[string]bool{
		// What its client entered besides may have moved the lease.
		"reentrancy-bad-thread-id-collision.jsonl lease-honoured": true,
	}
	proven := make(map[string]int)
	for _, s := range samples(t) {
		for _, v := range s.certificate.Proven {
			proven[v.Rule]++
		}
		for _, u := range s.certificate.Unproven {
			if u.Verdict == "fail" && slices.Contains(rules, checker.Property(u.Rule)) && !unproven[s.name+" "+u.Rule] {
				t.Errorf("%s: %s is not proven: %s", s.name, u.Rule, u.Reason)
			}
		}
	}
	for _, rule := range rules {
		if proven[string(rule)] == 0 {
			t.Errorf("no fail of %s is proven", rule)
		}
	}
}
