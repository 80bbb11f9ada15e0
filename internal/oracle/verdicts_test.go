package oracle

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
)

// properties are all that are ruled on. Those from the third on are ruled on by package orders, in
// its order.
var properties = [...]checker.Property{
	checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured,
	checker.Ownership, checker.TruthfulReplies, checker.Reentrancy, checker.Fencing,
}

// unit is the finest time of histories that are compared.
const unit = time.Millisecond / 100

// newJudge returns a judge by whom no verdict hangs on rounding: the wide tolerance is twice the
// checker's or more.
func newJudge() *orders.Judge {
	return orders.NewJudge(orders.Drift{}, orders.Drift{Part: 33, Extra: 5 * time.Millisecond})
}

// verdicts rules on a history. Of mutual exclusion and lease exclusion, see excludes.
func verdicts(h history, by *orders.Judge) map[checker.Property]orders.Ruling {
	rulings, _ := by.Rule(h.calls())
	v := map[checker.Property]orders.Ruling{
		checker.StrictExclusion: h.excludes(false),
		checker.LeaseExclusion:  h.excludes(true),
	}
	for i, r := range rulings {
		v[properties[2+i]] = r
	}
	return v
}

// flawless reports whether a sound lock explains a history, so that no property of a server may fail.
func flawless(h history, by *orders.Judge) bool {
	_, sound := by.Rule(h.calls())
	return sound
}

// calls are those of h but those of the resource, and crashes, in order of invocations.
func (h history) calls() (calls []orders.Call) {
	byStart := slices.SortedStableFunc(slices.Values(h), func(a, b call) int { return cmp.Compare(a.inv, b.inv) })
	var times []time.Duration
	for _, c := range h {
		times = append(times, c.inv, c.ret)
	}
	slices.Sort(times)
	for _, c := range byStart {
		if c.f == histories.Crash || c.f == histories.Read || c.f == histories.Write {
			continue
		}
		o := orders.Call{
			F: c.f, Worker: c.who, Attempt: c.number(), Outcome: c.outcome, Mode: c.mode, TTL: c.ttl, Token: c.token, Told: c.told, Count: c.count,
			Invoked: orders.Moment{Event: slices.Index(times, c.inv), Time: c.inv}, Returned: orders.Moment{Event: orders.Pending},
		}
		if !c.open {
			o.Returned = orders.Moment{Event: slices.Index(times, c.ret), Time: c.ret}
		}
		calls = append(calls, o)
	}
	return calls
}
