package certificate

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// deadlocked looks for keys that nobody can have again: refused while nobody thinks that he has them, for
// longer than the longest lease and the slack, or without a TTL and an owner.
func deadlocked(t *tables, yield func(finding)) {
	calm, granted := t.calm(), false
	for _, k := range t.keys {
		var busy []span
		for _, h := range k.holds {
			to := at(h.end.event)
			if !h.granted() {
				to = min(to, at(h.to.event))
			}
			busy = append(busy, span{at(h.from.event), to})
		}
		for _, e := range k.told {
			owned := slices.ContainsFunc(busy, func(s span) bool { return s.from < at(e.Index) && at(e.Index) < s.to })
			squatted := e.Value == "" && slices.ContainsFunc(k.faults, func(f fault) bool {
				return f.f == "squatter" && f.node == e.Node && f.meets(between(e.Index, e.Index+1))
			})
			if e.F == histories.Audit && e.TTL == histories.NoTTL && !owned && !squatted {
				yield(k.violation([]part{{"audit", e.Index}}, nil))
			} else if e.F == histories.Audit {
				k.outlasts(e, busy, yield)
			}
		}
		if calm != never {
			granted = k.starved(busy, calm, yield) || granted
		}
	}
	switch {
	case calm == never:
		yield(doubt("a fault was never healed"))
	case !granted:
		yield(doubt("nobody got a lock after the last fault"))
	}
}

// outlasts looks whether the key that an audit found has no end, or a later one than the lock promises to who
// does not say for how long. It takes that one alone may have the key, and had no fault before nor an extend.
func (k *table) outlasts(audit histories.Event, busy []span, yield func(finding)) {
	var owner *hold
	for i, s := range busy {
		switch {
		case at(audit.Index) <= s.from || s.to <= at(audit.Index):
		case owner != nil:
			return
		default:
			owner = k.holds[i]
		}
	}
	if owner == nil || !owner.granted() || owner.to.event > audit.Index || !owner.Default || owner.TTL <= 0 || len(owner.extends) > 0 ||
		slices.ContainsFunc(k.faults, func(f fault) bool { return f.from < at(audit.Index) }) {
		return
	}
	events, of, promised := []part{{"granted", owner.to.event}, {"audit", audit.Index}}, []uint64{owner.Attempt}, plus(owner.TTL, k.terms.Slack)
	if audit.TTL == histories.NoTTL {
		yield(k.violation(events, of))
	} else if audit.TTL > promised {
		yield(k.violation(events, of, less("default lease and slack", promised, "time to live", audit.TTL)))
	}
}

// starved looks for windows in which a key was refused for too long, and says whether it was had after
// the last fault.
func (k *table) starved(busy []span, calm rank, yield func(finding)) (granted bool) {
	var refusals []*op
	tried, found := false, false
	for _, o := range k.calls {
		if o.F != acquire {
			continue
		}
		if o.wasRefused() {
			refusals = append(refusals, o)
		}
		if at(o.from.event) > calm {
			tried, granted = true, granted || o.outcome == histories.OK
		}
	}
	i, lent := 0, k.lent()
	for _, w := range windows(busy, calm) {
		var first, last *op
		var asked time.Duration
		for ; i < len(refusals) && at(refusals[i].from.event) < w.to; i++ {
			o := refusals[i]
			if at(o.from.event) < w.from || at(o.to.event) > w.to {
				continue
			}
			if first == nil {
				first, last = o, o
			}
			if o.to.event > last.to.event {
				last = o
			}
			asked = o.from.time
		}
		if first == nil {
			continue
		}
		if patience := plus(lent(last.to.event), k.terms.Slack); asked-first.from.time > patience {
			found = true
			yield(k.violation([]part{{"first", first.from.event}, {"last", last.to.event}}, []uint64{first.Attempt, last.Attempt},
				less("longest lease and slack", patience, "time for which it was refused", asked-first.from.time)))
		}
	}
	if tried && !granted && !found {
		yield(doubt("nobody was granted " + k.key + " after the last fault"))
	}
	if !found {
		k.unanswered(calm, yield)
	}
	return granted
}

// lent returns the longest lease that anybody may have got before an event, or else that was asked for.
// The events have to rise.
func (k *table) lent() func(int) time.Duration {
	i := 0
	var asked, got time.Duration
	return func(event int) time.Duration {
		for ; i < len(k.calls) && k.calls[i].from.event < event; i++ {
			o := k.calls[i]
			if o.F != acquire && o.F != extend {
				continue
			}
			if asked = max(asked, o.TTL); o.outcome != histories.Fail {
				got = max(got, o.TTL)
			}
		}
		if got == 0 {
			return asked
		}
		return got
	}
}

// unanswered looks for acquires that had no certain answer for longer than a lease and the slack, while
// nobody is known to have had the key.
func (k *table) unanswered(calm rank, yield func(finding)) {
	lent, end := k.lent(), len(k.times)-1
	for _, o := range k.calls {
		if o.F != acquire || o.outcome != histories.Info || at(o.from.event) < calm {
			continue
		}
		until := end
		if o.to.event != pending {
			until = o.to.event
		}
		patience := plus(lent(until), k.terms.Slack)
		free, longest := o.from.time, time.Duration(0) // since when nobody has it, and for how long before
		if k.times[until]-free <= patience {
			continue
		}
		for _, h := range k.holds {
			switch {
			case h.from.event > until:
			case h.Attempt == o.Attempt && h.by == crash:
				free = forever
			case !h.granted():
			case h.isOpen():
				longest, free = max(longest, h.from.time-free), forever
			default:
				longest, free = max(longest, h.from.time-free), max(free, h.end.time)
			}
		}
		if max(longest, k.times[until]-free) > patience {
			yield(doubt("somebody waited too long without a certain answer"))
			return
		}
	}
}

// overtaken looks for waiting clients that another overtook more often than the lock promises.
func overtaken(t *tables, yield func(finding)) {
	if t.terms.Overtaking <= 0 {
		yield(doubt("the lock promises no fairness"))
		return
	}
	waits := 0
	for _, k := range t.keys {
		queue := make(map[int]*waiting) // by worker
		type point struct {
			event int
			call  *op
		}
		var answers []point
		for _, o := range k.calls {
			if o.F == acquire && o.to.event != pending && !o.invalid {
				answers = append(answers, point{o.to.event, o})
			}
		}
		slices.SortFunc(answers, func(a, b point) int { return a.event - b.event })
		for _, p := range answers {
			o := p.call
			if o.outcome != histories.Fail {
				delete(queue, o.Worker)
			} else if queue[o.Worker] == nil {
				queue[o.Worker] = &waiting{o, make(map[int][]*op)}
				waits++
			}
			if o.outcome != histories.OK {
				continue
			}
			for _, worker := range workersOf(queue) {
				w := queue[worker]
				if o.from.event < w.since.to.event {
					continue
				}
				w.by[o.Worker] = append(w.by[o.Worker], o)
				if by := w.by[o.Worker]; len(by) == t.terms.Overtaking+1 {
					yield(k.tooOften(w.since, by))
				}
			}
		}
	}
	if waits == 0 {
		yield(doubt("nobody had to wait"))
	}
}

// A waiting client was refused, and has not been granted its key since.
type waiting struct {
	since *op
	by    map[int][]*op // grants to others
}

func workersOf(queue map[int]*waiting) []int {
	var all []int
	for worker := range queue {
		all = append(all, worker)
	}
	slices.Sort(all)
	return all
}

func (k *table) tooOften(since *op, by []*op) finding {
	parts, attempts := []part{{"waits", since.to.event}}, []uint64{since.Attempt}
	for _, o := range by[:min(len(by), maxEvents-1)] {
		parts, attempts = append(parts, part{"overtook", o.to.event}), append(attempts, o.Attempt)
	}
	return k.violation(parts, attempts, less("times that the lock allows", k.terms.Overtaking, "times that it was overtaken", len(by)))
}

// What a client that waits for a lock may cost.
const (
	mostLoad     = 100 // commands in a second
	shortestWait = 100 * time.Millisecond
)

// overloaded looks for waits that cost too many commands.
func overloaded(t *tables, yield func(finding)) { t.overloaded(nil, yield) }

// overloadedByWire also looks for those that do so for the time in which no command was under way.
func overloadedByWire(t *tables, yield func(finding)) { t.overloaded(t.wire, yield) }

func (t *tables) overloaded(w *wire, yield func(finding)) {
	judged := 0
	for _, k := range t.keys {
		calls := make(map[uint64]*op)
		for _, o := range k.calls {
			if o.F == acquire && o.to.event != pending {
				calls[o.Attempt] = o
			}
		}
		for _, e := range k.told {
			o := calls[e.Attempt]
			if e.F != histories.Waited || o == nil {
				continue
			}
			sent, err := strconv.ParseInt(e.Value, 10, 64)
			if err != nil || sent < 0 {
				yield(doubt("a wait sent " + strconv.Quote(e.Value) + " commands"))
				continue
			}
			took := o.to.time - o.from.time - t.stood(o.from.time, o.to.time)
			if took < shortestWait {
				continue
			}
			judged++
			most := int64(took) * mostLoad / int64(time.Second)
			if w != nil && t.terms.Poll <= 0 && float64(sent) >= took.Seconds()*mostLoad/10 {
				took = min(took, o.to.time-o.from.time-w.underWay(o.Worker, t.terms.Register, o.from.time, o.to.time))
				most = int64(max(took, time.Millisecond)) * mostLoad / int64(time.Second)
			}
			if poll := t.terms.Poll; poll > 0 {
				most = 2 * int64(max(t.terms.Masters, 1)) * (int64(took/poll) + 2)
			}
			if sent > most {
				yield(k.violation([]part{{"asked", o.from.event}, {"answered", o.to.event}, {"cost", e.Index}}, []uint64{o.Attempt},
					less("commands that are enough", most, "commands", sent)))
			}
		}
	}
	if judged == 0 {
		yield(doubt("nobody waited for long enough"))
	}
}

// stood is for how long, between two times, lockbench or the machine stood still. What is told twice counts once.
func (t *tables) stood(from, to time.Duration) (all time.Duration) {
	seen := from // all before it is counted
	for _, e := range t.stalls {
		if e.Err == "" { // else it tells of others again
			all += max(0, min(e.Time, to)-max(e.Time-e.TTL, seen))
			seen = max(seen, min(e.Time, to))
		}
	}
	return all
}
