package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// judgeDeadlock judges deadlock freedom: once the last fault is healed, a waiting
// client gets the lock within TTL + slack, and nothing is left locked for ever.
//
// A key is free while no living client can think that it has it: no belief is
// open, and no acquire that ended as unknown, or never, is in flight. A granted
// attempt counts from its acquire's invocation. A release, lost, abandon or crash
// ends a belief, and a crash ends a call in flight. What a server still holds then has
// to run out: a free window that begins after the last fault, and in which clients are
// refused over a span longer than the largest TTL that anybody may have got on
// that key plus the slack, is a deadlock: what was refused left nothing behind. If nobody
// can have got anything it is the largest that was asked for. The span runs from the first
// refused invocation to the last inside the window: how long the last answer took to come
// is not the lock's.
//
// An audit that finds a lock key without TTL and without such a living owner is a
// deadlock as well: no server will ever remove that key.
//
// The verdict is Pass only if every key that anybody tried after the last fault
// was granted to somebody then. It is Unknown if nobody tried, if a key was only
// ever refused but not for long enough, if somebody waited for that long without a
// certain answer, or if a fault was never healed.
func judgeDeadlock(rec *record, opt Options) judge {
	j := &deadlocks{opt: opt, keys: make(map[string]*chance)}
	j.calm, j.sick = lastHealed(rec.Faults)
	return j
}

type deadlocks struct {
	opt  Options
	calm rank
	sick *histories.Op // a fault that was never healed

	blame   []string
	witness []int // of the first key that is blamed; what happened on it is proof enough
	keys    map[string]*chance
	last    *record
}

// A chance is what is known of a key after the last fault.
type chance struct {
	starved        bool
	tried, granted bool
	waiting        string  // what somebody waited for in vain, perhaps
	lent           longest // in earlier stretches
}

func (j *deadlocks) hear(_ context.Context, s *stretch) error {
	k := j.keys[s.key]
	if k == nil {
		k = &chance{}
		j.keys[s.key] = k
	}
	d := newDemand(s, k, j.opt)
	j.last = s.record
	var witness []int
	orphaned, innocent := false, len(j.blame) == 0
	accuse := func(story string, by []int) { j.blame, witness = append(j.blame, story), append(witness, by...) }
	for _, e := range s.singles {
		if e.F == histories.Audit && e.TTL == histories.NoTTL && !d.owned(e.Index) && !squatted(s.record, e) {
			orphaned = true
			accuse(d.tellOrphan(e), d.orphan(e))
		}
	}
	if j.sick != nil || k.starved {
		// nobody knows when the last fault was over, or all is said
	} else if starved, ok := d.starved(j.calm, j.opt.slack()); ok && s.mine(starved.last.Complete.Index) {
		k.starved = true
		story := d.tellStarved(starved)
		if !orphaned {
			story = paragraph(story, d.tellLeft(starved.left, "", starved.first.Invoke.Time))
		}
		accuse(story, starved.witness())
	} else {
		j.wait(d)
	}
	k.lent = d.leases()
	k.lent.before(s.to)
	k.lent.calls = nil
	if innocent {
		j.witness = witness
	}
	return nil
}

// wait notes whether a key was had after the last fault, or what somebody waited for.
func (j *deadlocks) wait(d *demand) {
	tried, granted := d.since(j.calm)
	d.tried, d.granted = d.tried || tried, d.granted || granted
	if o := d.unanswered(j.calm, j.opt.slack()); o != nil && d.waiting == "" {
		d.waiting = fmt.Sprintf("%s asked for %s at %s and had no certain answer for longer than TTL and slack, while nobody is known to have had it.",
			histories.WorkerName(o.Invoke.Worker), d.key, seconds(o.Invoke.Time))
	}
}

// chances says how many keys were had after the last fault, and what somebody waited for in vain.
func (j *deadlocks) chances() (granted int, waiting string) {
	for _, key := range sortedKeys(j.keys) {
		switch k := j.keys[key]; {
		case k.starved:
		case k.waiting != "":
			waiting = k.waiting
		case k.granted:
			granted++
		case k.tried:
			waiting = fmt.Sprintf("Nobody was granted %s after %s, but nobody was refused for long enough while it was free.", key, seconds(j.last.timeOf(j.calm)))
		}
	}
	return granted, waiting
}

func (j *deadlocks) verdict(res *Result) error {
	granted, waiting := j.chances()
	switch {
	case len(j.blame) > 0:
		res.Verdict = Fail
		slices.Sort(j.witness)
		res.Witness = slices.Compact(j.witness)
		res.Story = paragraph(j.blame...)
	case j.sick != nil:
		res.Story = fmt.Sprintf("The fault %s that began at %s was never healed, so there is no time after the last fault.", faultName(*j.sick), seconds(j.sick.Invoke.Time))
	case waiting != "":
		res.Story = waiting
	case granted == 0:
		res.Story = "Nobody tried to get a lock after the last fault."
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("From %s on, clients got every key that they tried, and no key was refused for longer than its TTL + %s while it was free.", seconds(j.last.timeOf(j.calm)), seconds(j.opt.slack()))
	}
	return nil
}

// squatted says whether what an audit found may be somebody else's: no string, while a fault was
// in force that puts such a thing under the lock's keys.
func squatted(rec *record, audit histories.Event) bool {
	return audit.Value == "" && slices.ContainsFunc(rec.Faults, func(f histories.Op) bool {
		return f.Invoke.F == squatter && f.Invoke.Node == audit.Node && inForce(f, audit.Index, audit.Index+1)
	})
}

// squatter is the fault that puts a value of another type under a key of the lock.
const squatter histories.F = "squatter"

// lastHealed returns the rank at which the last fault ended, 0 if there was none,
// or else a fault that was never healed.
func lastHealed(faults []histories.Op) (rank, *histories.Op) {
	var last rank
	for i := range faults {
		if !healed(faults[i]) {
			return never, &faults[i]
		}
		last = max(last, at(faults[i].Complete.Index))
	}
	return last, nil
}

func faultName(fault histories.Op) string {
	if fault.Invoke.Node == "" {
		return string(fault.Invoke.F)
	}
	return fmt.Sprintf("%s of %s", fault.Invoke.F, fault.Invoke.Node)
}

// timeOf is the time of the event with rank r, and 0 for rank 0.
func (r *record) timeOf(at rank) time.Duration {
	if at == 0 {
		return 0
	}
	return r.Times[at/2]
}

// demand is who had and who wanted one key.
type demand struct {
	*stretch
	*chance
	wire  *Commands
	busy  []span          // in order of starts
	asked []*histories.Op // acquires and extends, in order of invocations
}

func newDemand(s *stretch, k *chance, opt Options) *demand {
	d := &demand{stretch: s, chance: k, wire: opt.Commands}
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
func (d *demand) leases() longest { return longest{d.asked, d.lent.asked, d.lent.got} }

// owned says whether a living client may have held the key at an event.
func (d *demand) owned(event int) bool {
	return slices.ContainsFunc(d.busy, func(s span) bool { return s.from < at(event) && at(event) < s.to })
}

// since says whether somebody tried to acquire the key after calm, and was granted it.
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
	lent, last := d.leases(), len(d.Times)-1
	for _, o := range d.asked {
		if o.Invoke.F != histories.Acquire || o.Outcome() != histories.Info || at(o.Invoke.Index) < calm || !d.mine(d.over(o)) {
			continue
		}
		end := last
		if o.Done {
			end = o.Complete.Index
		}
		free, until, longest := o.Invoke.Time, d.Times[end], time.Duration(0)
		patience := plus(lent.before(end), slack)
		if until-free <= patience {
			continue
		}
		for _, h := range d.holds {
			switch {
			case h.Invoked.Event > end:
			case h.Attempt == o.Invoke.Attempt && h.End == histories.Crash:
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
	if l.got == 0 {
		return l.asked
	}
	return l.got
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
		d.key, seconds(s.first.Invoke.Time), histories.WorkerName(s.first.Invoke.Worker), seconds(s.last.Complete.Time), histories.WorkerName(s.last.Invoke.Worker),
		seconds(s.last.Complete.Time-s.first.Invoke.Time), seconds(s.patience))
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
		fmt.Sprintf("At %s%s the key %s = %q had no TTL and no living owner: no server will ever remove it.", seconds(e.Time), where, d.key, e.Value),
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
		fate = fmt.Sprintf("whose acquire at %s has no known outcome", seconds(h.Invoked.Time))
	case h.End == histories.Crash:
		fate = "which crashed at " + seconds(h.Ended.Time)
	case h.End == histories.Lost:
		fate = "which was told at " + seconds(h.Ended.Time) + " that the lock was lost"
	case h.End == histories.Abandon:
		fate = "which walked away at " + seconds(h.Ended.Time)
	default:
		fate = "whose release began at " + seconds(h.Ended.Time)
	}
	return fmt.Sprintf("It was probably left behind by %s, %s.", name, fate)
}
