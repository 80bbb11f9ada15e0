package certificate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
)

// A finding is what a rule says of the tables: that something violates it, or may.
type finding struct {
	certain  bool // else it may have another cause, and neither passes nor fails
	key      string
	attempts []uint64
	events   []part
	bounds   []Bound
	commands []part // and commands, by their indexes
	why      string // if it is not certain
}

// A part is an event with its role.
type part struct {
	role  string
	event int
}

// A search looks for violations of a rule, and yields all of them.
type search func(t *tables, yield func(finding))

// searches are those of every rule.
func searches() map[string]search {
	return map[string]search{
		mutualExclusion: exclusive(believed),
		leaseExclusion:  exclusive(trusted),
		leaseHonoured:   decided(orders.LeaseHonoured, eachKey(honoured)),
		ownership:       decided(orders.Ownership, eachKey(foreign)),
		truthfulReplies: decided(orders.TruthfulReplies, eachKey(untrue)),
		resourceSafety:  eachKey(overwritten),
		fencing:         decided(orders.Fencing, unordered),
		counterSafety:   eachKey(miscounted),
		singleWinner:    eachKey(drawnTwice),
		reentrancy:      decided(orders.Reentrancy, reentered),
		deadlockFreedom: deadlocked,
		availability:    unavailable,
		fairness:        overtaken,
		load:            overloaded,
	}
}

// witnessed are the searches of rules of which the commands decide more than the history does.
func witnessed() map[string]search {
	return map[string]search{ownership: eachKey(foreignByWire), truthfulReplies: eachKey(untrueByWire), load: overloadedByWire}
}

// eachKey is a search in each key by itself.
func eachKey(one func(*table, func(finding))) search {
	return func(t *tables, yield func(finding)) {
		for _, k := range t.keys {
			one(k, yield)
		}
	}
}

// violation is a certain finding on a key, of calls: each with its role, and named by its answer.
func (k *table) violation(parts []part, attempts []uint64, bounds ...Bound) finding {
	var each []uint64
	for _, a := range attempts {
		if !slices.Contains(each, a) {
			each = append(each, a)
		}
	}
	return finding{certain: true, key: k.key, attempts: each, events: parts, bounds: bounds}
}

// doubt is why a rule can neither be said to hold nor to be violated.
func doubt(why string) finding { return finding{why: why} }

// taken reports whether an acquire was refused because of somebody who has the key, or by a server.
func (o *op) wasRefused() bool { return o.outcome == histories.Fail && !o.invalid }

// is reports whether a verdict tells of a finding, and the inequalities hold.
func (f *finding) is(v *Verdict) bool {
	same := func(p part, n Named) bool { return p.role == n.Role && p.event == n.Index }
	named := slices.EqualFunc(f.events, v.Events, same) && slices.EqualFunc(f.commands, v.Commands, same)
	return named && f.key == v.Key && slices.Equal(f.attempts, v.Attempts) && slices.Equal(f.bounds, v.Bounds) &&
		!slices.ContainsFunc(f.bounds, func(b Bound) bool { return !b.holds() })
}

// against is why a rule does not pass.
func (f *finding) against() error {
	if !f.certain {
		return errors.New(f.why)
	}
	return fmt.Errorf("it is violated on %q: %v", f.key, f.events)
}

// verdict is the fail that a finding proves, without the places of its events.
func (f *finding) verdict(rule, proof string) Verdict {
	v := Verdict{Rule: rule, Verdict: Fail, Proof: proof, Key: f.key, Attempts: f.attempts, Bounds: f.bounds}
	for _, p := range f.events {
		v.Events = append(v.Events, Named{Role: p.role, Index: p.event})
	}
	for _, p := range f.commands {
		v.Commands = append(v.Commands, Named{Role: p.role, Index: p.event})
	}
	return v
}

// locks reports whether a call is one that a Lock takes.
func locks(f kind) bool {
	return f == acquire || f == release || f == extend
}
