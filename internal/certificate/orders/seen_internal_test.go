package orders

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// TestSeen: of calls that all overlap there are many orders, and few states that differ in what can
// follow.
func TestSeen(t *testing.T) {
	calls := []Call{
		{F: histories.Acquire, Worker: 2, Attempt: 1, Outcome: histories.OK, TTL: time.Second},
		{F: histories.Extend, Worker: 2, Attempt: 1, Outcome: histories.OK, TTL: 2 * time.Second},
		{F: histories.Acquire, Worker: 1, Attempt: 3, Outcome: histories.Fail, TTL: time.Second},
		{F: histories.Acquire, Worker: 0, Attempt: 4, Outcome: histories.Fail, TTL: 2 * time.Second},
		{F: histories.Release, Worker: 0, Attempt: 4, Outcome: histories.OK},
		{F: histories.Acquire, Worker: 2, Attempt: 6, Outcome: histories.OK, TTL: 2 * time.Second},
		{F: histories.Count, Worker: 0, Outcome: histories.OK, Count: 2},
		{F: histories.Acquire, Worker: 2, Attempt: 8, Outcome: histories.Info, TTL: 3 * time.Second},
	}
	for i := range calls {
		c := &calls[i]
		if c.F == histories.Acquire {
			c.Mode = histories.Reentrant
		}
		c.Invoked = Moment{i, time.Duration(i) * 700 * time.Millisecond}
		c.Returned = Moment{len(calls) + i, time.Duration(10+i) * time.Second}
	}
	s := newSearch(calls, new(room))
	s.run(rules{wide: true, beside: true, budget: mostWrongs}, (*search).server)
	const most = 50_000 // without looking for states that were seen, millions
	if s.visits > most || s.fewest == none {
		t.Errorf("%d states, want %d at most; the fewest wrongs are %d", s.visits, most, s.fewest)
	}
	t.Logf("%d states", s.visits)
}
