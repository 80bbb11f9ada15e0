package oracle

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
	"github.com/lockbench/lockbench/internal/explain"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestTwoSearches: the search of the judges and that of the verifier, which share no code and no method,
// rule alike on small histories, those of locks and any others.
func TestTwoSearches(t *testing.T) {
	const seed = 20251126
	drift := orders.Drift{Part: 100, Extra: 2 * time.Millisecond}
	late := orders.Drift{Part: 100, Extra: 2 * time.Millisecond, Late: 100 * time.Millisecond}
	judges := [...]*orders.Judge{orders.NewJudge(drift, drift), orders.NewJudge(late, late)}
	for _, k := range knownHistories() {
		h, err := parse(k.history)
		if err != nil {
			t.Fatal(err)
		}
		calls := h.calls()
		if len(calls) > orders.MaxCalls {
			continue
		}
		if want, _ := judges[0].Rule(calls); searched(calls, 0) != want {
			t.Errorf("%s: package explain rules %v, package orders %v: %v", k.name, searched(calls, 0), want, h)
		}
	}
	var ruled [3]int
	for n := range uint64(effort.Count(20_000, 200_000)) {
		var calls []orders.Call
		switch h, _ := generate(seed, n); {
		case n%8 == 0:
			calls = anyCalls(rand.New(rand.NewPCG(seed, n)))
		case sane(h):
			calls = h.calls()
		}
		want, _ := judges[n%2].Rule(calls)
		if got := searched(calls, [...]time.Duration{0, late.Late}[n%2]); got != want {
			t.Errorf("history %d of seed %d: package explain rules %v, package orders %v: %+v", n, seed, got, want, calls)
		}
		for _, r := range want {
			ruled[r]++
		}
	}
	t.Logf("seed %d: must fail %d, must not %d, free %d", seed, ruled[orders.MustFail], ruled[orders.MustNot], ruled[orders.Free])
	for r, n := range ruled {
		if n < 100 {
			t.Errorf("%d rulings are %v, want 100 at least", n, orders.Ruling(r))
		}
	}
}

// anyCalls are calls with any answers. They overlap, or one begins when the one before it ends, or soon after.
func anyCalls(rng *rand.Rand) (calls []orders.Call) {
	modes := [...]histories.Mode{histories.Exclusive, histories.Shared, histories.Reentrant}
	mode, mixed, overlap, workers := modes[rng.IntN(3)], rng.IntN(3) == 0, rng.IntN(20) == 0, 1+rng.IntN(4)
	var acquires []orders.Call
	now := time.Duration(0)
	for i := range 1 + rng.IntN(orders.MaxCalls) {
		c := orders.Call{F: histories.Acquire, Worker: rng.IntN(workers), Attempt: uint64(i + 1), Mode: mode, TTL: time.Duration(1+rng.IntN(3)) * time.Second, Token: max(0, rng.Int64N(8)-4)}
		if mixed {
			c.Mode = modes[rng.IntN(2)]
		}
		if rng.IntN(7) > 1 && len(acquires) > 0 {
			of := acquires[rng.IntN(len(acquires))]
			c.F = [...]histories.F{histories.Release, histories.Extend, histories.Release}[rng.IntN(3)]
			c.Worker, c.Attempt, c.Mode, c.Token = of.Worker, of.Attempt, of.Mode, 0
		} else {
			acquires = append(acquires, c)
		}
		c.Outcome = [...]histories.Type{histories.OK, histories.OK, histories.Fail, histories.Fail, histories.Info}[rng.IntN(5)]
		if c.F != histories.Acquire && c.Mode == histories.Reentrant && rng.IntN(4) == 0 {
			c.F, c.Outcome, c.Count = histories.Count, histories.OK, rng.IntN(3)
		}
		begun := now
		now += time.Duration(rng.IntN(3)) * 495 * time.Millisecond
		c.Invoked, c.Returned = orders.Moment{Event: 2 * i, Time: begun}, orders.Moment{Event: 2*i + 1, Time: now}
		if now += time.Duration(rng.IntN(2)) * 10 * time.Millisecond; overlap {
			c.Returned = orders.Moment{Event: 100 + i, Time: time.Duration(10+i) * time.Second}
		}
		calls = append(calls, c)
	}
	return calls
}

// searched are the rulings of package explain.
func searched(calls []orders.Call, late time.Duration) orders.Rulings {
	instant := func(m orders.Moment) histories.Instant { return histories.Instant{Event: m.Event, Time: m.Time} }
	all := make([]explain.Call, len(calls))
	for i, c := range calls {
		all[i] = explain.Call{F: c.F, Worker: c.Worker, Attempt: c.Attempt, Mode: c.Mode, Outcome: c.Outcome, Invoked: instant(c.Invoked), TTL: c.TTL, Token: c.Token, Told: c.Told, Count: c.Count}
		if c.F == histories.Extend && c.TTL == 0 { // it asks for that of its acquire
			all[i].TTL = calls[slices.IndexFunc(calls, func(a orders.Call) bool { return a.F == histories.Acquire && a.Attempt == c.Attempt })].TTL
		}
		if c.Returned.Event != orders.Pending {
			all[i].Returned = instant(c.Returned)
		}
	}
	r := new(explain.Searcher).Rule(all, late) // one searches so many states in all
	alike := map[explain.Ruling]orders.Ruling{explain.Open: orders.Free, explain.Kept: orders.MustNot, explain.Broken: orders.MustFail}
	var rulings orders.Rulings
	for p, one := range map[orders.Property]explain.Ruling{
		orders.LeaseHonoured: r.Leases, orders.Ownership: r.Ownership, orders.TruthfulReplies: r.Truth, orders.Reentrancy: r.Reentry, orders.Fencing: r.Fencing,
	} {
		rulings[p] = alike[one]
	}
	return rulings
}
