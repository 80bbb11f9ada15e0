package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
)

// TestOwnLock puts locks in the place of the broken one: each is told with what it did, what is right of it, and the
// verdict that it got.
func TestOwnLock(t *testing.T) {
	for name, tc := range map[string]struct {
		demo, lock string
		verdict    checker.Verdict
		outcome    checker.Outcome
		right      string // of the question about the lock
		says       []string
		saysNot    []string
	}{
		"survives": {"get-del", "setnx-px-watch", checker.Pass, checker.AsExpected, "denied",
			[]string{"setnx-px-watch survives these steps", "--scenario get-del-race --lock setnx-px-watch"}, []string{"!!", "Why:  ", "keeps under the same steps"}},
		"breaks": {"gc-pause", "setnx-px-del", checker.Fail, checker.Unexpected, "lost",
			[]string{"keeps under the same steps what this one breaks", "violated: resource safety"}, []string{"survives these steps", "Why:  "}},
		"cannot be judged": {"failover", "setnx-px-wait", checker.Unknown, checker.Undecided, "denied",
			[]string{"prove nothing of this lock"}, []string{"survives these steps", "keeps under the same steps", "Nothing is violated.", "!!"}},
		"breaks, as is known": {"get-del", "setnx-px-get-del", checker.Fail, checker.AsExpected, "both",
			[]string{"Why:  "}, []string{"survives these steps", "keeps under the same steps"}},
	} {
		spec, err := libraries.Catalogue().Find(tc.lock)
		if err != nil {
			t.Fatal(err)
		}
		d := find(t, tc.demo)
		l, err := perform(t.Context(), d, Options{Seed: 1, Own: &Own{Lock: spec, Flags: "--lock " + tc.lock}})
		if err != nil {
			t.Fatal(err)
		}
		if l.Broken.Report.Verdict != tc.verdict || l.Outcome() != tc.outcome {
			t.Errorf("%s: %v and %v, want %v and %v", name, l.Broken.Report.Verdict, l.Outcome(), tc.verdict, tc.outcome)
		}
		text := tell(t, l, Languages()[0], report.Style{})
		first, _, _ := strings.Cut(text, "── The fix")
		for _, want := range append(tc.says, "Your lock, in place of the broken one: "+tc.lock, "The verdict on "+tc.lock+",", ". What will come of it?") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not told", name, want)
			}
		}
		for _, sign := range append(tc.saysNot, "The broken lock: ") {
			if strings.Contains(first, sign) {
				t.Errorf("%s: %q is told of it", name, sign)
			}
		}
		all := slides(l, Languages()[0])
		asked := slices.IndexFunc(all, func(s slide) bool { return s.asks != nil })
		if got := keyOf(t, d.Ask.About, all[asked].asks); got != tc.right {
			t.Errorf("%s: the right answer is %q, want %q", name, got, tc.right)
		}
	}
}

// TestOwnLockThatDoesNotFit checks that a lock that cannot play the steps is not told to keep or to break anything.
func TestOwnLockThatDoesNotFit(t *testing.T) {
	spec, err := libraries.Catalogue().Find("setnx")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(find(t, "read-write"), Options{Own: &Own{Lock: spec}}); !harness.NotApplicable(err) {
		t.Errorf("a lock without readers: %v, want that it does not apply", err)
	}
	if _, err := Prepare(find(t, "get-del"), Options{Own: &Own{Lock: spec, Worker: []string{"worker"}}}); err == nil || harness.NotApplicable(err) {
		t.Errorf("a process in virtual time: %v, want a mistake of the user's", err)
	}
}

// TestLease plays a demo with another lease: what is told follows.
func TestLease(t *testing.T) {
	l, err := perform(t.Context(), find(t, "setnx-expire"), Options{Seed: 1, TTL: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if text := tell(t, l, Languages()[0], report.Style{}); !strings.Contains(text, "a lease lasts 0.5 s") || strings.Contains(text, "3 s") || l.Outcome() != checker.AsExpected {
		t.Errorf("%v, and told:\n%s", l.Outcome(), text)
	}
}
