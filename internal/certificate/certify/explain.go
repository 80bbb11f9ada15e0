package certify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
)

// An operation is a call on a lock.
type operation struct {
	number int64 // of the calls on its key
	call   certificate.Call
	invoke *histories.Event
	answer *histories.Event // nil: none
	taken  bool             // it took effect
}

// outcome is what is known of an operation: OK, or Fail if it was refused. Info is all else; of such a
// operation invalid says that it certainly had no effect.
func (d *operation) outcome() (t histories.Type, invalid bool) {
	switch {
	case d.answer == nil || d.answer.Type == histories.Info:
		return histories.Info, false
	case d.answer.Type == histories.OK:
		return histories.OK, false
	}
	refused := d.answer.Taken() || d.answer.NotHeld()
	return histories.Fail, !refused
}

func (d *operation) done() bool {
	t, _ := d.outcome()
	return t != histories.Fail
}

// A solver looks for an explanation of one key, greedily: a refusal takes effect as soon as it is
// true, and what changes the key when some answer needs it, as early as it could by then. Of what has
// no known outcome nothing happens unless an answer needs it. It finds the explanation of most
// histories of sound locks, in linear time; that it finds none says nothing.
type solver struct {
	lock     certificate.Lock
	effects  certificate.Effects
	last     time.Duration           // when the last effect was taken
	changes  map[uint64][]*operation // by attempt: invoked, not refused, not taken
	acquires []*operation            // those of them that are acquires and were granted
	unknown  []*operation            // those of them that are acquires of unknown outcome
	refusals []*operation            // invoked, and not true yet
	untrue   bool                    // a token does not rise
}

// maxDepth is how many calls may need each other.
const maxDepth = 32

// begin takes an invocation.
func (s *solver) begin(d *operation) {
	t, invalid := d.outcome()
	switch {
	case invalid:
		return
	case t == histories.Fail:
		s.refusals = append(s.refusals, d)
		s.settle()
		return
	case d.invoke.F == histories.Acquire && t == histories.OK:
		s.acquires = append(s.acquires, d)
	case d.invoke.F == histories.Acquire:
		s.unknown = append(s.unknown, d)
	}
	s.changes[d.invoke.Attempt] = append(s.changes[d.invoke.Attempt], d)
}

// end takes the answer to a call, by which it must have taken effect.
func (s *solver) end(d *operation) bool {
	if t, invalid := d.outcome(); invalid || t == histories.Info {
		return true
	}
	return s.force(d, d.answer.Time, 0) && !s.untrue
}

// force lets d take effect by now, after what must come before. It says whether it could.
func (s *solver) force(d *operation, now time.Duration, depth int) bool {
	for !d.taken {
		helper := s.before(d)
		if helper == nil {
			at, ok := s.lock.When(&d.call, d.done(), max(s.last, d.invoke.Time))
			if ok && at <= now {
				s.take(d, at)
				return true
			}
			helper = s.help(d, now)
		}
		if helper == nil || depth == maxDepth || !s.force(helper, now, depth+1) {
			return false
		}
	}
	return true
}

// before returns a call that must have taken effect before d, as it succeeded and could not after d.
func (s *solver) before(d *operation) *operation {
	for _, attempt := range s.ends(d) {
		var release *operation
		for _, x := range s.changes[attempt] {
			t, _ := x.outcome()
			switch {
			case x == d || t != histories.OK:
			case x.invoke.F == histories.Extend:
				return x
			case x.invoke.F == histories.Release && d.invoke.F != histories.Release:
				release = x
			}
		}
		if release != nil {
			return release
		}
	}
	return nil
}

// ends returns the attempts that no longer have the key when d has taken effect, and do before.
func (s *solver) ends(d *operation) []uint64 {
	switch {
	case d.invoke.F == histories.Acquire && d.done():
		return s.lock.Blocking(&d.call)
	case d.invoke.F != histories.Acquire && s.lock.Holds(d.invoke.Attempt) && (!d.done() || d.invoke.F == histories.Release):
		return []uint64{d.invoke.Attempt}
	}
	return nil
}

// help returns a call without which d cannot take effect by now, or nil.
func (s *solver) help(d *operation, now time.Duration) *operation {
	switch {
	case d.invoke.F == histories.Acquire && !d.done():
		if i := s.soonest(); i != nil {
			return i
		}
		return s.early()
	case d.done() && d.invoke.F != histories.Acquire:
		for _, x := range s.changes[d.invoke.Attempt] {
			if x.invoke.F == histories.Acquire {
				return x
			}
		}
	default:
		for _, attempt := range s.ends(d) {
			if x := s.shortens(attempt, d, now); x != nil {
				return x
			}
		}
	}
	return nil
}

// soonest is the acquire that is answered first of those that are under way and will be granted.
func (s *solver) soonest() *operation {
	if len(s.acquires) == 0 {
		return nil
	}
	return slices.MinFunc(s.acquires, func(a, b *operation) int { return a.answer.Index - b.answer.Index })
}

// early is the acquire of unknown outcome whose lease would be over first, or nil: the last of those
// that may have taken effect at once, or the first of the others.
func (s *solver) early() *operation {
	if len(s.unknown) == 0 {
		return nil
	}
	next, _ := slices.BinarySearchFunc(s.unknown, s.last, func(d *operation, last time.Duration) int { return cmp.Compare(d.invoke.Time, last) })
	return s.unknown[max(0, next-1)]
}

// shortens is a call of unknown outcome that may have ended an attempt's lease by now, or nil.
func (s *solver) shortens(attempt uint64, but *operation, now time.Duration) *operation {
	for _, x := range s.changes[attempt] {
		t, _ := x.outcome()
		short := x.invoke.F == histories.Extend && x.invoke.TTL > 0 && x.invoke.TTL <= now-max(s.last, x.invoke.Time)
		if x != but && t == histories.Info && (short || x.invoke.F == histories.Release) {
			return x
		}
	}
	return nil
}

// take lets d take effect at an instant.
func (s *solver) take(d *operation, at time.Duration) {
	e := certificate.Effect{Call: d.number, At: at, Done: d.done()}
	if d.invoke.F == histories.Acquire && e.Done && d.answer != nil {
		e.Token = d.answer.Token
	}
	s.untrue = s.untrue || !s.lock.Issue(&d.call, e.Token)
	s.lock.Take(&d.call, e.Done, at)
	s.last, d.taken = at, true
	s.effects.Add(e)
	isD := func(x *operation) bool { return x == d }
	if e.Done {
		rest := slices.DeleteFunc(s.changes[d.invoke.Attempt], isD)
		if s.changes[d.invoke.Attempt] = rest; len(rest) == 0 {
			delete(s.changes, d.invoke.Attempt)
		}
		s.acquires = slices.DeleteFunc(s.acquires, isD)
		if t, _ := d.outcome(); t == histories.Info && d.invoke.F == histories.Acquire {
			s.unknown = slices.DeleteFunc(s.unknown, isD)
		}
	} else {
		s.refusals = slices.DeleteFunc(s.refusals, isD)
	}
	s.settle()
}

// settle lets refusals take effect that are true now, whatever became of leases.
func (s *solver) settle() {
	for i := 0; i < len(s.refusals); {
		d := s.refusals[i]
		if d.invoke.F == histories.Acquire && s.lock.Free() || d.invoke.F != histories.Acquire && s.lock.Holds(d.invoke.Attempt) {
			i++
			continue
		}
		s.take(d, max(s.last, d.invoke.Time)) // and go on with the others
		i = 0
	}
}

// explain returns the explanations of keys that it finds, in order of their first calls, and why there
// is none of the first of the others; empty if there is one of every key.
func explain(events []histories.Event) (found []certificate.Explanation, missing string) {
	operations := deedsOf(events)
	solvers := make(map[string]*solver)
	var keys []string
	failed := make(map[string]int) // the event that nothing explains, by key
	for i := range events {
		e, d := &events[i], operations[i]
		if d == nil {
			continue
		}
		s := solvers[e.Key]
		if s == nil {
			s = &solver{changes: make(map[uint64][]*operation)}
			solvers[e.Key], keys = s, append(keys, e.Key)
		}
		if _, over := failed[e.Key]; over {
			continue
		}
		if d.invoke == e {
			s.begin(d)
		} else if !s.end(d) {
			failed[e.Key] = i
		}
	}
	for _, key := range keys {
		if i, over := failed[key]; over {
			if missing == "" {
				missing = fmt.Sprintf("no explanation found of %q: none for the answer of event %d", key, i)
			}
			continue
		}
		found = append(found, solvers[key].effects.Explanation(key))
	}
	return found, missing
}

// deedsOf returns the calls on locks, each at the events of its invocation and its answer.
func deedsOf(events []histories.Event) []*operation {
	operations := make([]*operation, len(events))
	open := make(map[int]*operation)  // by process
	numbers := make(map[string]int64) // by key
	for i := range events {
		e := &events[i]
		switch {
		case e.Process < 0 || e.Single() || e.F != histories.Acquire && e.F != histories.Release && e.F != histories.Extend:
		case e.Type == histories.Invoke:
			operations[i] = &operation{number: numbers[e.Key], call: certificate.CallOf(e), invoke: e}
			open[e.Process] = operations[i]
			numbers[e.Key]++
		case open[e.Process] != nil:
			operations[i] = open[e.Process]
			operations[i].answer = e
			delete(open, e.Process)
		}
	}
	return operations
}
