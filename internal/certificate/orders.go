package certificate

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
)

// decided is a search of a rule that all orders of the calls decide on small keys: what it finds there is
// a violation or a doubt as they say, and where it finds nothing, and they say that the rule is violated, the
// calls together are the violation.
func decided(p orders.Property, by search) search {
	return func(t *tables, yield func(finding)) {
		t.ruling.Do(t.rule)
		violated := make(map[string]bool) // of small keys
		by(t, func(f finding) {
			if k := t.byKey[f.key]; f.certain && k.rulings != nil {
				if k.rulings[p] == orders.MustNot {
					f = doubt("an order of the calls explains what is found on " + strconv.Quote(f.key))
				} else {
					violated[f.key] = true
				}
			}
			yield(f)
		})
		for _, k := range t.keys {
			if k.rulings != nil && k.rulings[p] == orders.MustFail && !violated[k.key] {
				yield(k.unexplained(p))
			}
		}
	}
}

// unexplained is the violation that no order of the calls keeps a rule. It is of all calls or, of leases and of
// tokens, of those that cannot be spared.
func (k *table) unexplained(p orders.Property) finding {
	calls, _ := k.small()
	if p == orders.LeaseHonoured || p == orders.Fencing {
		judge := k.judge()
		calls = needed(calls, func(calls []orders.Call) bool {
			rulings, _ := judge.Rule(calls)
			return rulings[p] == orders.MustFail
		})
	}
	var parts []part
	var attempts []uint64
	for _, c := range calls {
		parts = append(parts, part{"call", c.Returned.Event})
		if c.Returned.Event == pending {
			parts[len(parts)-1].event = c.Invoked.Event
		}
		if c.F != histories.Count {
			attempts = append(attempts, c.Attempt)
		}
	}
	return k.violation(parts, attempts)
}

// needed leaves calls out, an attempt or a count at a time, as long as the others fail.
func needed(calls []orders.Call, fail func([]orders.Call) bool) []orders.Call {
	left := calls
	for i, one := range calls {
		its := func(c orders.Call) bool {
			if c.F == histories.Count || one.F == histories.Count {
				return c.Invoked == one.Invoked
			}
			return c.Attempt == one.Attempt
		}
		if rest := slices.DeleteFunc(slices.Clone(left), its); !slices.ContainsFunc(calls[:i], its) && fail(rest) {
			left = rest
		}
	}
	return left
}

// judge returns a Judge of this history.
func (t *tables) judge() *orders.Judge {
	drift := orders.Drift{Part: 100, Extra: 2 * time.Millisecond, Late: t.terms.Slack}
	return orders.NewJudge(drift, drift)
}

// rule has all orders of the calls on each small key judged.
func (t *tables) rule() {
	const mostEvents = 1 << 14 // of a history that is searched
	if t.troubled || t.terms.Masters > 1 || t.terms.SilentRelease || len(t.times) > mostEvents {
		return
	}
	left := make(map[string]bool) // keys that somebody left without a call
	for _, e := range t.left {
		left[e.Key] = true
	}
	judge := t.judge()
	for _, k := range t.keys {
		if calls, small := k.small(); small && !left[k.key] {
			rulings, _ := judge.Rule(calls)
			k.rulings = &rulings
		}
	}
}

// small returns the calls on a key, and false if there is none, too many, or another than orders know of.
func (k *table) small() (calls []orders.Call, ok bool) {
	if len(k.calls) == 0 || len(k.calls) > orders.MaxCalls {
		return nil, false
	}
	const year = 365 * 24 * time.Hour
	acquired := make(map[uint64]bool) // attempts
	for _, o := range k.calls {
		c, known := k.ordered(o)
		if !known || o.F != count && acquired[o.Attempt] == (o.F == acquire) || o.from.time-k.calls[0].from.time > year {
			return nil, false
		}
		acquired[o.Attempt] = acquired[o.Attempt] || o.F == acquire
		calls = append(calls, c)
	}
	return calls, true
}

// ordered is a call as orders have it, and false if they know of none such.
func (k *table) ordered(o *op) (orders.Call, bool) {
	c := orders.Call{
		F: kinds()[o.F], Worker: o.Worker, Attempt: o.Attempt, Mode: modes()[o.Mode], Outcome: o.outcome, TTL: o.TTL, Token: o.issued, Told: o.deadline,
		Invoked: orders.Moment{Event: o.from.event, Time: o.from.time}, Returned: orders.Moment{Event: o.to.event, Time: o.to.time},
	}
	switch {
	case locks(o.F):
		return c, o.outcome != histories.Fail || o.refused()
	case o.F != count || o.outcome != histories.OK:
		return c, o.F == count
	}
	n, err := strconv.Atoi(k.texts[o.text])
	c.Count = n
	return c, err == nil
}
