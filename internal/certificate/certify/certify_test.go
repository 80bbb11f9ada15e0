package certify_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/certificate"
)

// TestVerdictsAreProven: every pass and every fail in the checker's corpus is proven.
func TestVerdictsAreProven(t *testing.T) {
	proven := make(map[string]int)
	for _, s := range samples(t) {
		for _, v := range s.certificate.Proven {
			proven[v.Rule]++
		}
		for _, u := range s.certificate.Unproven {
			if u.Verdict == certificate.Pass || u.Verdict == certificate.Fail {
				t.Errorf("%s: the %s of %s is not proven: %s", s.name, u.Verdict, u.Rule, u.Reason)
			}
		}
	}
	for _, rule := range rules() {
		if proven[string(rule)] == 0 {
			t.Errorf("no verdict of %s is proven", rule)
		}
	}
}
