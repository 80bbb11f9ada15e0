package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// A tenure is who had one key, and who gave it back.
type tenure struct {
	*ownership
	*stretch
	attempts map[uint64]*histories.Hold
	refused  map[uint64][]*histories.Op // extends, by attempt
	taken    []*histories.Op            // acquires that were refused
	accepted []*histories.Op            // releases and extends, in order of invocations
	reached  []int                      // reached[i] is when the last of accepted[:i+1] returned
	rivals   *contest
	next     []*histories.Hold // next[i] is the hold of holds[i:] that was granted first
}

func newTenure(j *ownership, s *stretch) *tenure {
	k := &tenure{ownership: j, stretch: s, rivals: &contest{stretch: s}, attempts: make(map[uint64]*histories.Hold, len(s.holds)), refused: make(map[uint64][]*histories.Op)}
	for _, h := range k.holds {
		k.attempts[h.Attempt] = h
	}
	for _, o := range s.calls {
		if o.Complete.Taken() {
			k.taken = append(k.taken, o)
		}
		if o.Invoke.F != histories.Release && o.Invoke.F != histories.Extend {
			continue
		}
		switch {
		case o.Outcome() == histories.OK:
			k.accepted = append(k.accepted, o)
			reached := o.Complete.Index
			if n := len(k.reached); n > 0 {
				reached = max(reached, k.reached[n-1])
			}
			k.reached = append(k.reached, reached)
		case o.Invoke.F == histories.Extend && o.Complete.NotHeld():
			k.refused[o.Invoke.Attempt] = append(k.refused[o.Invoke.Attempt], o)
		}
	}
	k.nextGrants()
	return k
}

// A sighting is the call by which it was seen that a hold had vanished.
type sighting struct {
	by      histories.F     // Release or Extend refused, Acquire granted
	hold    *histories.Hold // that was granted, or nil
	invoked histories.Instant
	done    histories.Instant
}

func (k *tenure) nextGrants() {
	k.next = make([]*histories.Hold, len(k.holds)+1)
	for i := len(k.holds) - 1; i >= 0; i-- {
		k.next[i] = k.next[i+1]
		h := k.holds[i]
		if h.Outcome == histories.OK && (k.next[i] == nil || h.Returned.Event < k.next[i].Returned.Event) {
			k.next[i] = h
		}
	}
}

// vanished returns the first sighting that the i-th hold was gone although it was
// certainly in force.
func (k *tenure) vanished(i int) (sighting, bool) {
	b := k.holds[i]
	var first sighting
	consider := func(s sighting) {
		if s.done.Time >= k.leases.sureUntil(b, s.done) || k.leases.overdrawn(b) < s.done.Event || k.leases.lapsed(b, s.done.Event) {
			return
		}
		if s.hold == nil && k.had(b, s.invoked.Event) {
			return // it was the refusal that was untrue
		}
		if first.by == "" || s.done.Event < first.done.Event {
			first = s
		}
	}

	released := unknown
	if len(b.Releases) > 0 {
		r := b.Releases[0]
		released = r.Invoked.Event
		if r.Outcome == histories.Fail && released > b.Returned.Event && !k.disturbed(r.Invoked.Event, r.Returned.Event) && !givesBack(b, released, r.Returned.Event) {
			consider(sighting{by: histories.Release, invoked: r.Invoked, done: r.Returned})
		}
	}
	for _, x := range k.refused[b.Attempt] {
		if x.Invoke.Index > b.Returned.Event && x.Complete.Index < released && !k.disturbed(x.Invoke.Index, x.Complete.Index) {
			consider(sightingOf(x))
		}
	}
	after, _ := slices.BinarySearchFunc(k.holds, b.Returned.Event, func(h *histories.Hold, event int) int { return h.Invoked.Event - event })
	if c := k.usurper(b, after, released); c != nil {
		consider(sighting{by: histories.Acquire, hold: c, invoked: c.Invoked, done: c.Returned})
	}
	return first, first.by != ""
}

// had reports whether an answer to a call for b, after an event, says that it was still in force.
func (k *tenure) had(b *histories.Hold, after int) bool {
	n := len(b.Extends) // which are in the order of their returns
	return n > 0 && b.Extends[n-1].Returned.Event > after ||
		slices.ContainsFunc(b.Releases, func(r histories.Answer) bool { return r.Outcome == histories.OK && r.Returned.Event > after })
}

// usurper is the hold of holds[from:] that was granted first, and before event by, of
// those that may not share the key with b; nil if there is none.
func (k *tenure) usurper(b *histories.Hold, from, by int) *histories.Hold {
	first := k.next[from]
	switch {
	case first == nil || first.Returned.Event >= by:
		return nil
	case !first.Shares(*b):
		return first
	}
	var found *histories.Hold
	for _, h := range k.holds[from:] {
		if h.Invoked.Event >= by {
			break
		}
		if h.Outcome == histories.OK && h.Returned.Event < by && !h.Shares(*b) && (found == nil || h.Returned.Event < found.Returned.Event) {
			found = h
		}
	}
	return found
}

func sightingOf(o *histories.Op) sighting {
	return sighting{
		by:      o.Invoke.F,
		invoked: histories.Instant{Event: o.Invoke.Index, Time: o.Invoke.Time},
		done:    histories.Instant{Event: o.Complete.Index, Time: o.Complete.Time},
	}
}

// suspects returns the accepted releases and extends of other attempts that may have ended b:
// releases before extends, and of each kind the last first.
func (k *tenure) suspects(b *histories.Hold, gone sighting) []*histories.Op {
	var found []*histories.Op
	since := b.Invoked.Event // when it was certainly in force last
	for _, x := range b.Extends {
		if x.Returned.Event < gone.invoked.Event {
			since = max(since, x.Invoked.Event)
		}
	}
	begun, _ := slices.BinarySearchFunc(k.accepted, gone.done.Event, func(o *histories.Op, event int) int { return cmp.Compare(o.Invoke.Index, event) })
	for i, o := range slices.Backward(k.accepted[:begun]) {
		if k.reached[i] < since {
			break
		}
		if o.Invoke.Attempt == b.Attempt || o.Complete.Index < since || k.reenters(o, b) || k.keeps(o, b) {
			continue
		}
		found = append(found, o)
	}
	slices.SortStableFunc(found, func(a, b *histories.Op) int { return extends(a) - extends(b) })
	return found
}

// keeps reports whether an extend of another party was answered when that one certainly had the key, so
// that b came later.
func (k *tenure) keeps(o *histories.Op, b *histories.Hold) bool {
	a := k.hold(o.Invoke.Attempt)
	before := histories.Instant{Event: o.Invoke.Index - 1}
	return o.Invoke.F == histories.Extend && a != nil && !a.Shares(*b) && a.Outcome == histories.OK && a.Returned.Event < o.Invoke.Index &&
		(a.Open() || a.Ended.Event > o.Complete.Index) && k.leases.sureUntil(a, before) > o.Complete.Time && k.rivals.follows(b, a)
}

// extends is 1 of an extend, and 0 of a release.
func extends(o *histories.Op) int {
	if o.Invoke.F == histories.Extend {
		return 1
	}
	return 0
}

// culprits names the suspects, of whom one did it: the releases, if there are any. Of many it
// names the last two.
func (k *tenure) culprits(suspects []*histories.Op) string {
	var names []string
	for _, o := range suspects {
		name := fmt.Sprintf("%s's %s", histories.WorkerName(o.Invoke.Worker), o.Invoke.F)
		if o.Invoke.F == suspects[0].Invoke.F && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 2 {
		names = append(names[:2], "an earlier one")
	}
	return strings.Join(names, " or ")
}

// reenters reports whether o is of an attempt that b's holder re-entered with, or the other way
// round.
func (k *tenure) reenters(o *histories.Op, b *histories.Hold) bool {
	if b.Mode != histories.Reentrant || o.Invoke.Worker != b.Worker {
		return false
	}
	h := k.hold(o.Invoke.Attempt)
	return h != nil && h.Shares(*b)
}

// still is an acquire that was refused after the suspects' calls, and a hold was seen to be gone, though nobody else had the
// key. Nil: there is none.
func (k *tenure) still(suspects []*histories.Op, b *histories.Hold, gone sighting) *histories.Op {
	from := gone.invoked.Event
	for _, o := range suspects {
		from = max(from, o.Complete.Index)
	}
	i, _ := slices.BinarySearchFunc(k.taken, from, func(o *histories.Op, event int) int { return cmp.Compare(o.Invoke.Index, event) })
	if gone.hold != nil || i == len(k.taken) {
		return nil
	}
	o := k.taken[i]
	if k.leases.sureUntil(b, instant(&o.Complete)) <= o.Complete.Time || k.rivals.met(b, o.Complete.Index) != nil {
		return nil
	}
	return o
}

// otherwise is a hold that may have been let in beside another, if that explains a sighting as well as the
// suspects do. Nil: it does not.
func (k *tenure) otherwise(suspects []*histories.Op, b *histories.Hold, gone sighting) (rival, first *histories.Hold) {
	rival = k.rivals.admitted(b, gone.done.Event)
	if gone.hold != nil { // which was let in beside whom is not known
		rival = k.rivals.met(b, gone.invoked.Event)
	}
	if rival != nil {
		return rival, b
	}
	if gone.hold == nil {
		return nil, nil
	}
	honest := true
	for _, o := range suspects {
		a := k.hold(o.Invoke.Attempt)
		if a != nil && !a.Shares(*b) && !k.rivals.follows(b, a) {
			return b, a
		}
		honest = honest && a != nil && (o.Invoke.Index < b.Returned.Event || a.Shares(*b) || a.Shares(*gone.hold))
	}
	if honest && !k.opt.Commands.reached(b, gone.done.Time, suspects) {
		return gone.hold, b
	}
	return nil, nil
}

// disturbed reports whether a fault was in force at some time of a call.
func (k *tenure) disturbed(invoked, returned int) bool {
	return k.faults().meets(between(invoked, returned))
}

// serverFault reports whether a fault that may have ended b's hold, or have let a's
// and b's holds exist side by side, was in force before b was seen to be gone.
func (k *tenure) mayHaveForgotten(suspects []*histories.Op, b *histories.Hold, gone sighting) bool {
	from := b.Invoked.Event
	if h := k.hold(suspects[0].Invoke.Attempt); h != nil {
		from = min(from, h.Invoked.Event)
	}
	return k.serverFaults().meets(between(from, gone.done.Event))
}

func (k *tenure) hold(attempt uint64) *histories.Hold {
	return k.attempts[attempt]
}

// witness returns the grants of a and b, a's call and the sighting, in order.
func (k *tenure) witness(a *histories.Op, b *histories.Hold, gone sighting) []int {
	w := []int{b.Returned.Event, a.Invoke.Index, a.Complete.Index, gone.done.Event}
	if h := k.hold(a.Invoke.Attempt); h != nil && h.Outcome == histories.OK {
		w = append(w, h.Returned.Event)
	}
	slices.Sort(w)
	return slices.Compact(w)
}

func (k *tenure) tell(a *histories.Op, b *histories.Hold, gone sighting) string {
	seen := fmt.Sprintf("%s's own %s was refused at %s", histories.WorkerName(b.Worker), gone.by, words.Seconds(gone.done.Time))
	if gone.hold != nil {
		seen = fmt.Sprintf("%s was granted it at %s", histories.WorkerName(gone.hold.Worker), words.Seconds(gone.done.Time))
	}
	lease := "had no end"
	if end := k.leases.sureUntil(b, gone.done); end != forever {
		lease = "certainly ran until " + words.Seconds(end)
	}
	return fmt.Sprintf("%s was granted %s at %s, did not release it, and its lease %s, yet %s; %s's %s, invoked at %s, had been accepted at %s",
		histories.WorkerName(b.Worker), b.Key, words.Seconds(b.Returned.Time), lease, seen,
		histories.WorkerName(a.Invoke.Worker), a.Invoke.F, words.Seconds(a.Invoke.Time), words.Seconds(a.Complete.Time))
}
