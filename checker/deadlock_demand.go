package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// demand is who had and who wanted one key.
type demand struct {
	*stretch
	*chance
	lent  longest // in earlier stretches
	wire  *Commands
	busy  []span          // in order of starts
	asked []*histories.Op // acquires and extends, in order of invocations
}

func newDemand(s *stretch, k *chance, lent longest, opt Options) *demand {
	d := &demand{stretch: s, chance: k, lent: lent, wire: opt.Commands}
	if s.number > 0 {
		d.busy = append(d.busy, span{0, at(s.lo)})
	}
	for _, h := range s.holds {
		d.busy = append(d.busy, thoughtHeld(h))
	}
	for _, o := range s.calls {
		if o.Invoke.F == histories.Acquire || o.Invoke.F == histories.Extend {
			d.asked = append(d.asked, o)
		}
	}
	return d
}

// leases are those of the key, of earlier stretches too.
func (d *demand) leases() longest { return longest{d.asked, d.lent.asked, d.lent.got, d.lent.least} }

// owned reports whether a living client may have held the key at an event.
func (d *demand) owned(event int) bool {
	return slices.ContainsFunc(d.busy, func(s span) bool { return s.from < at(event) && at(event) < s.to })
}

// since reports whether somebody tried to acquire the key after calm, and was granted it.
func (d *demand) since(calm rank) (tried, granted bool) {
	for _, o := range d.asked {
		if o.Invoke.F == histories.Acquire && at(o.Invoke.Index) > calm {
			tried = true
			granted = granted || o.Outcome() == histories.OK
		}
	}
	return tried, granted
}

// unanswered is the first acquire after calm that had no certain answer for longer than the
// largest TTL that anybody may have got plus the slack, in a stretch in which nobody is known to
// have had the key. One that a client's crash ended waits for none.
func (d *demand) unanswered(calm rank, slack time.Duration) *histories.Op {
	lent := d.leases()
	for _, o := range d.asked {
		if o.Invoke.F != histories.Acquire || o.Outcome() != histories.Info || at(o.Invoke.Index) < calm || !d.mine(d.end(o).Event) {
			continue
		}
		end := d.end(o)
		free, until, longest := o.Invoke.Time, end.Time, time.Duration(0)
		patience := plus(lent.before(end.Event), slack)
		if until-free <= patience {
			continue
		}
		for _, h := range d.holds {
			switch {
			case h.Invoked.Event > end.Event:
			case h.Attempt == o.Invoke.Attempt && h.End == histories.Crash && h.Ended.Event <= end.Event:
				free = forever
			case h.Outcome != histories.OK:
			case h.Open():
				longest, free = max(longest, h.Invoked.Time-free), forever
			default:
				longest, free = max(longest, h.Invoked.Time-free), max(free, h.Ended.Time)
			}
		}
		if max(longest, until-free) > patience {
			return o
		}
	}
	return nil
}

// starvation is a span of refusals of a free key.
type starvation struct {
	first, last *histories.Op // refused
	left        *histories.Hold
	patience    time.Duration
}

// starved returns the first free window in which the key was refused for too long.
func (d *demand) starved(calm rank, slack time.Duration) (starvation, bool) {
	var refusals []*histories.Op
	for _, o := range d.asked {
		if o.Invoke.F == histories.Acquire && refused(o) && o.Complete.Index < d.to {
			refusals = append(refusals, o)
		}
	}
	i, lent := 0, d.leases()
	for _, w := range free(d.busy, calm) {
		var s starvation
		var asked time.Duration // last
		found := false
		for ; i < len(refusals) && at(refusals[i].Invoke.Index) < w.to; i++ {
			o := refusals[i]
			if at(o.Invoke.Index) < w.from || at(o.Complete.Index) > w.to {
				continue
			}
			if !found {
				s.first, s.last, found = o, o, true
			}
			if o.Complete.Index > s.last.Complete.Index {
				s.last = o
			}
			asked = o.Invoke.Time
		}
		if !found {
			continue
		}
		s.patience = plus(lent.before(s.last.Complete.Index), slack)
		if asked-s.first.Invoke.Time > s.patience {
			s.left = d.lastBefore(s.first.Invoke.Index)
			return s, true
		}
	}
	return starvation{}, false
}

// free returns the windows after calm that no busy span covers. The spans are in
// order of starts.
func free(busy []span, calm rank) []span {
	var windows []span
	from := calm
	for _, s := range busy {
		if s.from > from {
			windows = append(windows, span{from, s.from})
		}
		from = max(from, s.to)
	}
	if from != never {
		windows = append(windows, span{from, never})
	}
	return windows
}

// A longest is the longest of what calls asked for. It is asked about events in their order, as there may be
// as many free windows as calls.
type longest struct {
	calls      []*histories.Op // that are left, in order of invocations
	asked, got time.Duration   // the longest of the others: asked for, and perhaps got
	least      time.Duration   // one was as long, perhaps: see deadlocks.forget
}

// before is the longest lease that anybody may have got before an event, or else that was
// asked for.
func (l *longest) before(event int) time.Duration {
	for len(l.calls) > 0 && l.calls[0].Invoke.Index < event {
		ttl := l.calls[0].Invoke.TTL
		l.asked = max(l.asked, ttl)
		if l.calls[0].Outcome() != histories.Fail {
			l.got = max(l.got, ttl)
		}
		l.calls = l.calls[1:]
	}
	return l.longest()
}

// longest is the longest lease that anybody may have got, or else that was asked for.
func (l *longest) longest() time.Duration {
	if l.got == 0 {
		return max(l.asked, l.least)
	}
	return max(l.got, l.least)
}

// lastBefore is the attempt that probably left the lock behind: the last one before
// an event that was granted, or may have been.
func (d *demand) lastBefore(event int) *histories.Hold {
	i, _ := slices.BinarySearchFunc(d.holds, event, func(h *histories.Hold, event int) int { return cmp.Compare(h.Invoked.Event, event) })
	if i == 0 {
		return nil
	}
	return d.holds[i-1]
}

// witness returns the refusals, and the acquire that probably left the lock behind.
func (s starvation) witness() []int {
	w := []int{s.first.Invoke.Index, s.last.Complete.Index}
	if s.left != nil {
		w = append(w, max(s.left.Invoked.Event, s.left.Returned.Event))
	}
	return w
}

func (d *demand) tellStarved(s starvation) string {
	return fmt.Sprintf("Nobody held %s, yet it was refused from %s, when %s asked, to %s, when %s was last refused: for %s, longer than the %s of TTL and slack.",
		d.key, words.Seconds(s.first.Invoke.Time), histories.WorkerName(s.first.Invoke.Worker), words.Seconds(s.last.Complete.Time), histories.WorkerName(s.last.Invoke.Worker),
		words.Seconds(s.last.Complete.Time-s.first.Invoke.Time), words.Seconds(s.patience))
}

// orphan is the witness of an audit: with the acquire that probably left the key behind.
func (d *demand) orphan(audit histories.Event) []int {
	if h := d.lastBefore(audit.Index); h != nil {
		return []int{max(h.Invoked.Event, h.Returned.Event), audit.Index}
	}
	return []int{audit.Index}
}

func (d *demand) tellOrphan(e histories.Event) string {
	where := ""
	if e.Node != "" {
		where = " on " + e.Node
	}
	return paragraph(
		fmt.Sprintf("At %s%s the key %s = %q had no TTL and no living owner: no server will ever remove it.", words.Seconds(e.Time), where, d.key, e.Value),
		d.tellLeft(d.lastBefore(e.Index), e.Node, e.Time))
}

// tellLeft tells who left the lock behind on a node, or on any if it is empty: as the wire has it, or else
// what became of the attempt that probably did.
func (d *demand) tellLeft(h *histories.Hold, node string, by time.Duration) string {
	if told := d.wire.left(d.key, node, by, d.holds); told != "" {
		return told
	}
	if h == nil {
		return ""
	}
	name := histories.WorkerName(h.Worker)
	var fate string
	switch {
	case h.Open():
		fate = fmt.Sprintf("whose acquire at %s has no known outcome", words.Seconds(h.Invoked.Time))
	case h.End == histories.Crash:
		fate = "which crashed at " + words.Seconds(h.Ended.Time)
	case h.End == histories.Lost:
		fate = "which was told at " + words.Seconds(h.Ended.Time) + " that the lock was lost"
	case h.End == histories.Abandon:
		fate = "which walked away at " + words.Seconds(h.Ended.Time)
	default:
		fate = "whose release began at " + words.Seconds(h.Ended.Time)
	}
	return fmt.Sprintf("It was probably left behind by %s, %s.", name, fate)
}
