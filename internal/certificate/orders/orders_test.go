package orders_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
)

const ms = time.Millisecond

// history numbers the events of calls that are in order and do not overlap, each from its time in ms to
// the next one.
func history(calls ...orders.Call) []orders.Call {
	for i := range calls {
		c := &calls[i]
		c.Invoked.Event, c.Returned.Event = 2*i, 2*i+1
		c.Returned.Time = c.Invoked.Time + ms
	}
	return calls
}

func call(at time.Duration, f histories.F, worker int, outcome histories.Type) orders.Call {
	c := orders.Call{F: f, Worker: worker, Attempt: uint64(1 + worker), Outcome: outcome, Invoked: orders.Moment{Time: at * ms}}
	if f == histories.Acquire {
		c.TTL = time.Second
	}
	return c
}

func with(c orders.Call, change func(*orders.Call)) orders.Call {
	change(&c)
	return c
}

func reentrant(c *orders.Call) { c.Mode = histories.Reentrant }
func second(c *orders.Call)    { c.Attempt += 100 }

// TestRule: each property of some history must fail, and of another must not, though something else is
// wrong with that.
func TestRule(t *testing.T) {
	const ok, fail = histories.OK, histories.Fail
	taken := call(0, histories.Acquire, 0, ok)
	foreign := history(taken, call(10, histories.Acquire, 1, fail), call(20, histories.Release, 1, ok), call(30, histories.Acquire, 2, ok), call(40, histories.Release, 0, fail))
	for _, c := range []struct {
		name  string
		calls []orders.Call
		want  orders.Rulings
		sound bool
	}{
		{name: "one after the other", calls: history(taken, call(10, histories.Release, 0, ok), call(20, histories.Acquire, 1, ok)), sound: true, want: all(orders.MustNot)},
		{name: "two at once", calls: history(taken, call(10, histories.Acquire, 1, ok)), want: fails(orders.LeaseHonoured)},
		{name: "not yours", calls: history(taken, call(10, histories.Release, 0, fail)), want: fails(orders.TruthfulReplies)},
		{name: "another's release, and done", calls: foreign, want: fails(orders.LeaseHonoured, orders.Ownership, orders.TruthfulReplies)},
		{name: "another's hold was extended to end it", calls: history(
			with(taken, func(c *orders.Call) { c.TTL = 10 * time.Second }), call(10, histories.Acquire, 1, fail), with(call(20, histories.Extend, 1, ok), func(c *orders.Call) { c.TTL = 10 * ms }),
			call(100, histories.Release, 0, fail)), want: orders.Rulings{orders.Free, orders.MustFail, orders.MustFail, orders.MustNot, orders.MustNot}},
		{name: "counted once", calls: history(with(taken, reentrant), with(with(call(10, histories.Acquire, 0, ok), reentrant), second),
			with(call(20, histories.Count, 0, ok), func(c *orders.Call) { c.Count = 1 })), want: fails(orders.Reentrancy)},
		{name: "a token goes down", calls: history(with(taken, func(c *orders.Call) { c.Token = 2 }), call(10, histories.Release, 0, ok),
			with(call(20, histories.Acquire, 1, ok), func(c *orders.Call) { c.Token = 1 })), want: fails(orders.Fencing)},
	} {
		got, sound := orders.NewJudge(orders.Drift{}, orders.Drift{}).Rule(c.calls)
		if got != c.want || sound != c.sound {
			t.Errorf("%s: %v, sound %v; want %v, %v", c.name, got, sound, c.want, c.sound)
		}
	}
}

func all(r orders.Ruling) (rulings orders.Rulings) {
	for i := range rulings {
		rulings[i] = r
	}
	return rulings
}

// fails are rulings by which some properties must fail, and the others must not.
func fails(properties ...orders.Property) orders.Rulings {
	r := all(orders.MustNot)
	for _, p := range properties {
		r[p] = orders.MustFail
	}
	return r
}

// TestDrift: a lease may end by so much earlier as a reading allows, and no more.
func TestDrift(t *testing.T) {
	drift := orders.Drift{Part: 100, Extra: 2 * ms}
	for _, c := range []struct {
		at     time.Duration // of the next grant, in ms
		narrow orders.Drift
		want   orders.Ruling
	}{
		{987, drift, orders.MustFail},
		{988, drift, orders.MustNot},
		{987, orders.Drift{}, orders.MustFail},
		{988, orders.Drift{}, orders.Free},
		{1000, orders.Drift{}, orders.MustNot},
	} {
		calls := history(call(0, histories.Acquire, 0, histories.OK), call(c.at-1, histories.Acquire, 1, histories.OK))
		if got, _ := orders.NewJudge(c.narrow, drift).Rule(calls); got[orders.LeaseHonoured] != c.want {
			t.Errorf("at %d ms, narrow reading %v: %v, want %v", int64(c.at), c.narrow, got[orders.LeaseHonoured], c.want)
		}
	}
}

// TestOrderOfEvents: of two calls, one of which begins at the time at which the other ends, the order
// of events says whether they overlap.
func TestOrderOfEvents(t *testing.T) {
	for _, overlap := range []bool{true, false} {
		calls, want := history(call(0, histories.Acquire, 0, histories.OK), call(1, histories.Release, 0, histories.Fail)), orders.MustFail
		if overlap {
			calls[0].Returned.Event, calls[1].Invoked.Event = 2, 1
			want = orders.MustNot
		}
		if got, _ := orders.NewJudge(orders.Drift{}, orders.Drift{}).Rule(calls); got[orders.TruthfulReplies] != want {
			t.Errorf("they overlap: %v: %v, want %v", overlap, got[orders.TruthfulReplies], want)
		}
	}
}

// TestForever: leases and times of any length are added without a wrong sum.
func TestForever(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for _, ttl := range []time.Duration{10 * time.Second, 1<<63 - 1, century} {
		for _, at := range []time.Duration{0, 1 << 60, 1<<63 - 1 - time.Second} {
			calls := history(call(0, histories.Acquire, 0, histories.OK), call(10, histories.Acquire, 1, histories.OK), call(20, histories.Release, 1, histories.OK))
			for i := range calls {
				calls[i].TTL = ttl
				calls[i].Invoked.Time += at
				calls[i].Returned.Time += at
			}
			got, _ := orders.NewJudge(orders.Drift{Part: 100, Extra: 2 * ms}, orders.Drift{Part: 100, Extra: 2 * ms}).Rule(calls)
			if want := fails(orders.LeaseHonoured); got != want {
				t.Errorf("a lease of %v from %v on: %v, want %v", ttl, at, got, want)
			}
		}
	}
}
