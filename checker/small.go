package checker

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/explain"
	"github.com/lockbench/lockbench/internal/words"
)

// Where several things went wrong on a key, the rules of a property may accuse the wrong one or none: each of
// them looks at few calls. Of a key with few calls all that can have happened is searched (package explain), and what
// the explanations with the fewest wrongs say counts: a property that one of them keeps does not fail,
// and one that all of them break does. The rules decide where the definitions leave it open,
// and of all other keys.

// smallRulings are what a search of a small key said.
type smallRulings struct {
	calls   []explain.Call // none: the key is not small
	ruled   bool
	rulings explain.Rulings
}

// mostEvents is how many events a history with small keys has: no key of it is cut early.
const mostEvents = roomy

// search prepares a search of the stretch, if it is all of a small key: no fault was injected, what was asked is known, and
// nothing else tells more of the key.
func (s *stretch) search() {
	opt := s.record.opt
	if opt.rules || s.number > 0 || !s.whole || s.record.last.Event >= mostEvents || len(s.calls) == 0 || len(s.calls) > explain.MostCalls || len(s.Faults) > 0 || len(opt.Gaps) > 0 ||
		opt.Masters > 1 || opt.SilentRelease {
		return
	}
	for _, e := range s.singles {
		if e.F == histories.Lost || e.F == histories.Abandon {
			return
		}
	}
	calls := make([]explain.Call, 0, len(s.calls))
	for _, o := range s.calls {
		c, ok := simple(o, calls)
		if !ok || o.Invoke.Time-s.calls[0].Invoke.Time > explain.MostTime {
			return
		}
		calls = append(calls, c)
	}
	s.small.calls = calls
}

// simple is a call as a search takes it, or false if it knows no such calls after those before.
func simple(o *histories.Op, before []explain.Call) (c explain.Call, ok bool) {
	c = explain.Call{
		F: o.Invoke.F, Worker: o.Invoke.Worker, Attempt: o.Invoke.Attempt, Mode: o.Invoke.Mode(), Outcome: o.Outcome(),
		Invoked: instant(&o.Invoke), TTL: o.Invoke.TTL, Token: o.Complete.Token, Told: o.Complete.Deadline,
	}
	if o.Done {
		c.Returned = instant(&o.Complete)
	}
	refused := c.Outcome == histories.Fail
	acquire := slices.IndexFunc(before, func(b explain.Call) bool { return b.F == histories.Acquire && b.Attempt == c.Attempt })
	switch c.F {
	case histories.Acquire:
		return c, acquire < 0 && (!refused || o.Complete.Taken())
	case histories.Release, histories.Extend:
		if acquire < 0 || refused && !o.Complete.NotHeld() {
			return c, false
		}
		if c.Mode = before[acquire].Mode; c.F == histories.Extend && c.TTL == 0 {
			c.TTL = before[acquire].TTL
		}
		return c, true
	case histories.Count:
		c.Mode = histories.Reentrant
		if c.Outcome == histories.OK {
			n, err := strconv.Atoi(o.Complete.Value)
			c.Count, ok = n, err == nil
			return c, ok
		}
		return c, true
	}
	return c, false
}

// ruling is what the explanations of a small key say of a property. Of whose release it was, and what was true,
// the commands tell more, if they are known.
func (s *stretch) ruling(p Property) explain.Ruling {
	told := s.record.opt.Commands != nil && (p == Ownership || p == TruthfulReplies)
	if told || len(s.small.calls) == 0 {
		return explain.Open
	}
	if !s.small.ruled {
		s.small.ruled, s.small.rulings = true, s.searcher.Rule(s.small.calls, s.record.opt.slack())
	}
	return of(p, s.small.rulings)
}

// of is the ruling on a property.
func of(p Property, all explain.Rulings) explain.Ruling {
	switch p {
	case LeaseHonoured:
		return all.Leases
	case Ownership:
		return all.Ownership
	case TruthfulReplies:
		return all.Truth
	case Reentrancy:
		return all.Reentry
	case Fencing:
		return all.Fencing
	}
	return explain.Open
}

// weigh returns the conflicts of a stretch with a property that count. If they do not, as something else explains as much,
// it returns the story of that instead.
func (s *stretch) weigh(p Property, found []*conflict) (counts []*conflict, either string) {
	switch s.ruling(p) {
	case explain.Kept:
		if len(found) > 0 && !s.record.opt.excerpt {
			return nil, paragraph(found[0].story, "Something else explains all answers as well, with as few wrongs and without this one, so it cannot be told which it was.")
		}
	case explain.Broken:
		if len(found) == 0 {
			return []*conflict{s.inexplicable(p)}, ""
		}
	}
	return found, ""
}

// inexplicable is the conflict of calls with a property, if no two of them show it. It names all of them or, of leases
// and of tokens, those that cannot be spared: of the other properties, what is not there may be a part of the proof.
func (s *stretch) inexplicable(p Property) *conflict {
	calls := s.small.calls
	for i, one := range s.small.calls {
		its := func(c explain.Call) bool { return inseparable(c, one) }
		if p != LeaseHonoured && p != Fencing || slices.ContainsFunc(s.small.calls[:i], its) {
			continue
		}
		if rest := slices.DeleteFunc(slices.Clone(calls), its); of(p, s.searcher.Rule(rest, s.record.opt.slack())) == explain.Broken {
			calls = rest
		}
	}
	c := &conflict{}
	for _, call := range calls {
		end := call.Returned
		if end == (histories.Instant{}) {
			end = call.Invoked
		}
		c.witness = append(c.witness, end.Event)
	}
	needed := map[Property]string{
		LeaseHonoured:   "a grant while the lock was owed to another",
		Ownership:       "a release or an extend that ended another's hold",
		TruthfulReplies: "an untrue answer",
		Reentrancy:      "a wrong count of what a client had entered",
		Fencing:         "a token that was not higher than those before",
	}
	c.story = fmt.Sprintf("%s on %s: whatever their order was, and whenever within each call it took effect, there was %s.",
		words.Count(len(calls), "call"), s.key, needed[p])
	if p != LeaseHonoured {
		c.story = paragraph(c.story, "Who explains the answers without it has to assume that the lock did more wrong.")
	}
	return c
}

// inseparable reports whether two calls are of one attempt. Each count is by itself.
func inseparable(a, b explain.Call) bool {
	if a.F == histories.Count || b.F == histories.Count {
		return a.Invoked == b.Invoked
	}
	return a.Attempt == b.Attempt
}
