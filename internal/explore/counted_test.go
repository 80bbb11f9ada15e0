package explore

import (
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// TestCounted gives what one client was told of a lease of a second to the filter of what two sections at once are laid at.
func TestCounted(t *testing.T) {
	type events = []histories.Event
	on := func(at time.Duration, f histories.F, kind histories.Type, deadline time.Duration) histories.Event {
		return histories.Event{Time: at * time.Millisecond, F: f, Type: kind, Deadline: deadline * time.Millisecond}
	}
	of := func(key string, e histories.Event) histories.Event { e.Key = key; return e }
	all := []checker.Property{checker.StrictExclusion, checker.ResourceSafety, checker.Fencing}
	inTime, late := on(10, histories.Acquire, histories.OK, 1000), on(1200, histories.Acquire, histories.OK, 1000)
	writes, written, lost := on(400, histories.Write, histories.Invoke, 0), on(500, histories.Write, histories.OK, 0), on(900, histories.Lost, histories.Info, 0)
	for name, tc := range map[string]struct {
		told   events
		fails  []checker.Property
		leased bool // counts for a lock that does not renew its leases
		renews bool // counts for one that does
	}{
		"released in time": {told: events{inTime, on(500, histories.Release, histories.Invoke, 0)}, leased: true, renews: true},
		"went on":          {told: events{inTime, on(1500, histories.Release, histories.Invoke, 0)}, renews: true},
		"never released":   {told: events{inTime, on(1500, histories.Audit, histories.Info, 0)}, renews: true},
		"went on, and others were let in before": {
			told: events{inTime, on(1500, histories.Release, histories.Invoke, 0)}, fails: append(all, checker.LeaseExclusion), leased: true, renews: true,
		},
		"granted late and told the loss":                 {told: events{late, on(1200, histories.Lost, histories.Info, 0)}},
		"granted late and not told":                      {told: events{late, on(1300, histories.Release, histories.Invoke, 0)}, renews: true},
		"granted in time and told the loss":              {told: events{inTime, on(900, histories.Lost, histories.Info, 0)}, leased: true, renews: true},
		"granted late, then in time, and told that loss": {told: events{late, inTime, on(900, histories.Lost, histories.Info, 0)}, renews: true},
		"went on with one of two keys": {
			told: events{inTime, of("other", on(800, histories.Acquire, histories.OK, 1800)), of("other", on(1500, histories.Release, histories.Invoke, 0)), on(1600, histories.Release, histories.Invoke, 0)}, renews: true,
		},
		"released one of two keys in time, and then the other": {
			told: events{inTime, of("other", on(800, histories.Acquire, histories.OK, 1800)), on(900, histories.Release, histories.Invoke, 0), of("other", on(1500, histories.Release, histories.Invoke, 0))}, leased: true, renews: true,
		},
		"no deadline": {
			told: events{on(10, histories.Acquire, histories.OK, 0), on(900, histories.Lost, histories.Info, 0), on(5000, histories.Release, histories.Invoke, 0)}, leased: true, renews: true,
		},
		"told the loss after a write":  {told: events{inTime, writes, written, lost}, leased: true, renews: true},
		"told the loss before a write": {told: events{inTime, lost, writes, written}, leased: true, renews: true},
		"told the loss while its write was under way": {
			told: events{inTime, writes, lost, on(1300, histories.Write, histories.OK, 0)}, fails: []checker.Property{checker.ResourceSafety},
		},
		"told it then, and others were let in before": {
			told: events{inTime, writes, lost}, fails: []checker.Property{checker.ResourceSafety, checker.LeaseExclusion}, leased: true, renews: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fails := tc.fails
			if fails == nil {
				fails = all
			}
			for promise, want := range map[bool]bool{false: tc.leased, true: tc.renews} {
				lock := locks.Spec{Promises: locks.Promises{Renews: promise}}
				if lock.Class().Renews != promise {
					t.Fatalf("a lock whose promise to renew is %v has the class %+v", promise, lock.Class())
				}
				got := counted(fails, seen{events: tc.told, fenced: true}, lock, time.Second)
				if counts := slices.Contains(got, checker.ResourceSafety); counts != want {
					t.Errorf("of a lock that renews %v: %v are left of %v", promise, got, fails)
				}
			}
		})
	}
}

// TestCountedTokens: whoever goes on after the deadline that it was told shows an old token, which a register that does not look at tokens
// accepts of anybody. One that the lock issued too late is the lock's affair.
func TestCountedTokens(t *testing.T) {
	on := func(at time.Duration, f histories.F, kind histories.Type) histories.Event {
		return histories.Event{Time: at * time.Millisecond, F: f, Type: kind, Deadline: 2 * time.Second}
	}
	over := on(2500, histories.Release, histories.Invoke)
	for name, tc := range map[string]struct {
		tokens []int
		fenced bool
		then   []histories.Event
		counts bool
	}{
		"shown to who does not look": {[]int{0, 2}, false, nil, false},
		"shown and accepted":         {[]int{0, 2}, true, nil, true},
		"shown after the deadline":   {[]int{0, 2}, true, []histories.Event{over}, false},
		"issued":                     {[]int{0, 1}, false, []histories.Event{over}, true},
		"unknown":                    {nil, false, nil, false},
	} {
		told := append([]histories.Event{on(10, histories.Acquire, histories.OK), on(1100, histories.Acquire, histories.OK), on(1500, histories.Write, histories.OK)}, tc.then...)
		got := counted([]checker.Property{checker.Fencing}, seen{told, tc.tokens, tc.fenced}, locks.Spec{}, time.Second)
		if counts := len(got) > 0; counts != tc.counts {
			t.Errorf("%s: it counts: %v, want %v", name, counts, tc.counts)
		}
	}
}
