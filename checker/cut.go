package checker

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A key's history is cut into stretches, so that each can be judged alone, and be forgotten. It is cut
// when an accepted release has left the key to nobody: nobody believes to have it, no fault is in
// force or was within a lease and the slack, and all who call ask for the key.
//
// What was before still matters where it meets a call that is under way at the cut, where its
// outcome is not known, and where a client may call again: its last attempt. That is carried
// into the next stretch. What else a judge has to remember of a key it keeps itself.
//
// Where the calls of many keys together are too many, those keys are cut that are free and asked for by
// nobody, however few calls they have. Nothing is carried on then of what was given back; a key of which
// nothing at all has to be carried on is forgotten.

// When a key is cut.
const (
	spared = 4096    // how many calls of a stretch are not worth a cut
	roomy  = 1 << 14 // how many calls of all keys are not too many
)

// A cutter cuts the history of a key.
type cutter struct {
	*divider
	part    *stretch
	lease   time.Duration     // the longest that anybody asked for
	flying  []*histories.Op   // calls that are under way
	loose   []*histories.Hold // attempts that may be in force
	closing []*stretch        // parts that are over, but for calls that were under way
	freed   *histories.Op     // the last thing that happened on the key, if it was the release that left it to nobody
	idle    bool              // it is among those that were free
}

// tick notes when something happened.
func (c *cutter) tick(i histories.Instant) { c.part.own = append(c.part.own, i) }

// begin takes a call that is invoked.
func (c *cutter) begin(o *histories.Op) {
	c.tick(instant(&o.Invoke))
	c.freed = nil
	c.calls++
	c.part.calls, c.flying = append(c.part.calls, o), append(c.flying, o)
	c.lease = max(c.lease, o.Invoke.TTL)
	c.longest = max(c.longest, o.Invoke.TTL)
	switch o.Invoke.F {
	case histories.Incr:
		c.part.counter = true
	case histories.Acquire:
		c.fair.begin(o)
		if h := c.summarizer.Hold(o.Invoke.Attempt); h != nil && h.Invoked.Event == o.Invoke.Index {
			c.part.holds, c.loose = append(c.part.holds, h), append(c.loose, h)
		}
	}
}

// end takes a call that is over at an instant.
func (c *cutter) end(o *histories.Op, now histories.Instant) {
	c.tick(now)
	c.freed = nil
	i := slices.Index(c.flying, o)
	if i < 0 {
		return // its process had crashed
	}
	c.flying = slices.Delete(c.flying, i, i+1)
	for _, s := range slices.Backward(c.closing) {
		if o.Invoke.Index >= s.to {
			break
		}
		s.own = append(s.own, now)
		s.awaited--
	}
	c.close()
	back := o.Invoke.F == histories.Release && o.Outcome() == histories.OK
	if refused := o.Invoke.F == histories.Acquire && o.Outcome() == histories.Fail; !back && !refused {
		return
	}
	i = slices.IndexFunc(c.loose, func(h *histories.Hold) bool { return h.Attempt == o.Invoke.Attempt })
	if i < 0 {
		return
	}
	c.loose = slices.Delete(c.loose, i, i+1)
	switch {
	case !back:
	case len(c.part.calls)-c.part.carried >= c.spared && c.quiet(now):
		c.cut(o, false)
	default:
		c.freed = o
		if !c.idle {
			c.divider.idle, c.idle = append(c.divider.idle, c), true
		}
	}
}

// close hands on the parts of which all is known.
func (c *cutter) close() {
	for len(c.closing) > 0 && c.closing[0].awaited == 0 {
		s := c.closing[0]
		c.closing = c.closing[1:]
		c.calls -= len(s.calls)
		c.ready(s)
	}
}

// quiet reports whether nobody believes to have the key when a release has been accepted.
func (c *cutter) quiet(now histories.Instant) bool {
	if slices.ContainsFunc(c.flying, func(o *histories.Op) bool { return o.Invoke.F != histories.Acquire }) || c.sick(now) {
		return false
	}
	return !slices.ContainsFunc(c.loose, func(h *histories.Hold) bool { return c.believed(h, now) })
}

// sick reports whether a fault is in force, or has left something behind.
func (c *cutter) sick(now histories.Instant) bool {
	left := plus(c.lease, c.opt.slack())
	return c.ills.open > 0 || c.ills.unhealed || c.ills.healed.Event > 0 && now.Time < plus(c.ills.healed.Time, left)
}

// believed reports whether somebody believes at an event to have h, or is owed its lease.
func (*cutter) believed(h *histories.Hold, now histories.Instant) bool {
	if grantOf(h) == (histories.Instant{}) {
		return false
	}
	given, _ := givenUp(h)
	return h.Open() || h.Ended.Event > now.Event || given > at(now.Event) && mayRunUntil(h, 0) >= now.Time
}

// cut ends a part by a release. A deep cut carries on nothing of what was given back.
func (c *cutter) cut(release *histories.Op, deep bool) {
	last := c.part
	last.to, last.awaited = release.Complete.Index+1, len(c.flying)
	if last.settled = release.Invoke.Index; deep && len(c.flying) == 0 {
		last.settled = last.to // nothing of what was meets what will be
	}
	for _, o := range c.flying {
		last.settled = min(last.settled, o.Invoke.Index)
	}
	last.holds = notRefused(last.holds)
	kept := c.kept(last, deep)
	c.part = c.next(last, kept)
	c.calls += c.part.carried
	known := make(map[uint64]bool, len(c.part.ghosts))
	for _, h := range c.part.ghosts {
		known[h.Attempt] = true
	}
	for _, o := range last.calls {
		if o.Invoke.F == histories.Acquire && !kept[o.Invoke.Attempt] && !known[o.Invoke.Attempt] {
			c.summarizer.Forget(o.Invoke.Attempt)
		}
	}
	for _, h := range last.ghosts {
		if !known[h.Attempt] {
			c.summarizer.Forget(h.Attempt)
		}
	}
	c.loose = slices.DeleteFunc(c.loose, func(h *histories.Hold) bool { return !kept[h.Attempt] })
	c.closing = append(c.closing, last)
	c.close()
}

// sleep forgets the key if nothing of it has to be carried on.
func (c *cutter) sleep() {
	if len(c.part.calls)+len(c.part.ghosts)+len(c.closing) > 0 {
		return
	}
	delete(c.keys, c.part.key)
	c.recent, c.forgot = nil, true
	if c.slept != nil {
		c.slept(c.part.key)
	}
}

// next is the part that follows another.
func (c *cutter) next(last *stretch, kept map[uint64]bool) *stretch {
	next := &stretch{record: last.record, key: last.key, counter: last.counter, lo: last.settled, from: last.to, to: unknown, number: last.number + 1}
	for _, o := range last.calls {
		if !kept[o.Invoke.Attempt] {
			continue
		}
		next.calls, next.own = append(next.calls, o), append(next.own, instant(&o.Invoke))
		if end, over := c.over(o); over {
			next.own = append(next.own, end)
		}
	}
	next.carried = len(next.calls)
	next.before = last.before
	ghosts := make(map[ghost]*histories.Hold)
	for _, h := range last.ghosts {
		ghosts[ghostOf(h)] = h
	}
	for _, h := range last.holds {
		if kept[h.Attempt] {
			next.holds = append(next.holds, h)
			continue
		}
		next.before++
		if _, back := accepted(h); back {
			continue
		}
		if other := ghosts[ghostOf(h)]; other == nil || mayRunUntil(h, 0) > mayRunUntil(other, 0) || h.Open() && h.TTL > other.TTL {
			ghosts[ghostOf(h)] = h
		}
	}
	next.ghosts = slices.SortedFunc(maps.Values(ghosts), func(a, b *histories.Hold) int { return a.Invoked.Event - b.Invoked.Event })
	for _, h := range slices.Concat(next.ghosts, next.holds) {
		next.own = append(next.own, h.Invoked)
		if !h.Open() {
			next.own = append(next.own, h.Ended)
		}
	}
	slices.SortFunc(next.own, func(a, b histories.Instant) int { return cmp.Compare(a.Event, b.Event) })
	return next
}

// A ghost is what a server may still have of the holds of earlier stretches that were never known to
// be given back. Of those that tell the judges the same, the one that may last longest is enough.
type ghost struct {
	worker        int
	granted, open bool
	mode          histories.Mode
}

func ghostOf(h *histories.Hold) ghost {
	return ghost{h.Worker, h.Outcome == histories.OK, h.Open(), h.Mode}
}

// mostDoubtful is how many attempts of one worker are carried on because a release or an extend of
// theirs may reach the key yet. It takes two to tell one from another.
const mostDoubtful = 2

// kept are the attempts that are carried from a part into the next.
func (c *cutter) kept(last *stretch, deep bool) map[uint64]bool {
	kept := make(map[uint64]bool)
	counted := make(map[uint64]bool) // attempts of holds that a lock may count
	had := make(map[uint64]bool)     // attempts of holds that were not given back
	for _, h := range last.holds {
		if h.Mode == histories.Reentrant {
			counted[h.Attempt] = true
		}
		if _, back := accepted(h); !back {
			had[h.Attempt] = true
		}
	}
	doubtful := make(map[int]map[uint64]bool) // by worker
	latest := make(map[int]bool)              // workers whose last attempt is known
	for _, o := range slices.Backward(last.calls) {
		attempt, worker := o.Invoke.Attempt, o.Invoke.Worker
		end, done := c.over(o)
		open := done && o.Outcome() == histories.Info
		reaches := open && (o.Invoke.F == histories.Release || o.Invoke.F == histories.Extend)
		switch of := doubtful[worker]; {
		case !done, end.Event >= last.settled, open && counted[attempt] && o.Invoke.F != histories.Extend, !latest[worker] && last.mine(o.Invoke.Index) && (!deep || had[attempt]):
			kept[attempt] = true
		case reaches && of == nil:
			doubtful[worker] = map[uint64]bool{attempt: true}
			kept[attempt] = true
		case reaches && len(of) < mostDoubtful:
			of[attempt], kept[attempt] = true, true
		}
		latest[worker] = true
	}
	return kept
}
