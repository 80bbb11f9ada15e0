package checker

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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

// Where the calls of many keys together are too many, those keys are cut that are free and asked for by
// nobody, however few calls they have. Nothing is carried on then of what was given back; a key of which
// nothing at all has to be carried on is forgotten.

const (
	spared = 4096    // how many calls of a stretch are not worth a cut
	roomy  = 1 << 14 // how many calls of all keys are not too many
)

// A divider divides a history into stretches as it comes, and hands on each when all is known of
// it: when the calls have returned that were under way at its end.
type divider struct {
	*record
	fold   *histories.Fold
	hear   func(*stretch)
	slept  func(key string) // the key is forgotten; may be nil
	spared int

	keys   map[string]*cutter
	recent *cutter   // as large histories have one key
	calls  int       // that are kept
	most   int       // that may be
	idle   []*cutter // of keys that were free, not long ago
	forgot bool      // some keys
}

// newDivider returns a divider of no events that tells hear of the stretches.
func newDivider(opt Options, hear func(*stretch)) *divider {
	d := &divider{record: newRecord(opt), hear: hear, spared: cmp.Or(opt.spared, spared), most: cmp.Or(opt.roomy, roomy), keys: make(map[string]*cutter)}
	d.fold = histories.NewFold(histories.Hooks{
		Began: func(o *histories.Op) { d.of(o.Invoke.Key).begin(o) },
		Ended: func(o *histories.Op) {
			if o.Invoke.F == histories.Acquire {
				d.acquired(o)
			}
			d.of(o.Invoke.Key).end(o, instant(&o.Complete))
		},
		Over: func(h *histories.Hold, e *histories.Event) {
			c := d.of(h.Key)
			c.tick(h.Ended)
			if n := len(c.part.singles); n == 0 || c.part.singles[n-1].Index != e.Index {
				c.part.singles = append(c.part.singles, *e)
			}
		},
	})
	return d
}

// acquired takes an acquire that returned.
func (d *divider) acquired(o *histories.Op) {
	d.fair.end(o)
	if o.Complete.Type == histories.OK {
		d.pace.granted(o)
	}
}

// add takes the next event.
func (d *divider) add(e *histories.Event) {
	d.note(e)
	d.fold.Add(e)
	switch {
	case e.F == histories.Audit, e.F == histories.Waited:
		c := d.of(e.Key)
		c.freed = nil
		c.tick(instant(e))
		c.part.singles = append(c.part.singles, *e)
	case e.F == histories.Crash && e.Single():
		if o := d.fold.Call(e.Process); o != nil {
			d.of(o.Invoke.Key).end(o, instant(e))
		}
	}
	if d.calls > d.most {
		d.sweep()
	}
}

// sweep cuts the keys that are free.
func (d *divider) sweep() {
	for _, c := range d.idle {
		c.idle = false
		if o := c.freed; o != nil && c.quiet(instant(&o.Complete)) {
			c.cut(o, true)
			c.sleep()
		}
	}
	d.idle = nil
	d.most = d.calls + cmp.Or(d.opt.roomy, roomy)
}

// divide returns the stretches of a history, in order of keys. The error is that of
// histories.Validate.
func divide(events []histories.Event, opt Options) ([]*stretch, error) {
	var all []*stretch
	d := newDivider(opt, func(s *stretch) { all = append(all, s) })
	for i := range events {
		d.add(&events[i])
	}
	err := d.finish()
	slices.SortStableFunc(all, func(a, b *stretch) int { return cmp.Compare(a.key, b.key) })
	return all, err
}

// finish takes the end of the history: what is left of it is handed on, in order of keys. The error
// is that of histories.Validate.
func (d *divider) finish() error {
	d.fold.Finish()
	for _, key := range sortedKeys(d.keys) {
		c := d.keys[key]
		for _, s := range append(c.closing, c.part) {
			d.ready(s)
		}
	}
	var unfit error
	d.Summary, unfit = d.fold.Summary()
	return unfit
}

// of is the cutter of a key.
func (d *divider) of(key string) *cutter {
	if d.recent != nil && d.recent.part.key == key {
		return d.recent
	}
	c := d.keys[key]
	if c == nil {
		key = strings.Clone(key) // what was read with it can go
		c = &cutter{divider: d, part: &stretch{record: d.record, key: key, to: unknown}}
		if d.forgot { // it may have been before
			c.part.number, c.part.from, c.part.lo = 1, d.record.last.Event, d.record.last.Event
		}
		d.keys[key] = c
	}
	d.recent = c
	return c
}

// ready hands on a stretch of which all is known.
func (d *divider) ready(s *stretch) {
	d.complete(s)
	d.hear(s)
}

// complete adds to a stretch what is known by now.
func (d *divider) complete(s *stretch) {
	d.Summary, _ = d.fold.Summary()
	s.to = min(s.to, d.Events)
	s.holds = notRefused(s.holds)
	s.others, s.clock.last = d.ills.instants, d.record.last
	s.ill = d.lingering(s.of(s.from))
	s.leases = newLeases(s.holds)
}

// notRefused are the holds that were not refused after all.
func notRefused(holds []*histories.Hold) []*histories.Hold {
	return slices.DeleteFunc(holds, func(h *histories.Hold) bool { return h.Outcome == histories.Fail })
}

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
		if h := c.fold.Hold(o.Invoke.Attempt); h != nil && h.Invoked.Event == o.Invoke.Index {
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

// quiet says whether nobody believes to have the key when a release has been accepted.
func (c *cutter) quiet(now histories.Instant) bool {
	if slices.ContainsFunc(c.flying, func(o *histories.Op) bool { return o.Invoke.F != histories.Acquire }) || c.sick(now) {
		return false
	}
	return !slices.ContainsFunc(c.loose, func(h *histories.Hold) bool { return c.believed(h, now) })
}

// sick says whether a fault is in force, or has left something behind.
func (c *cutter) sick(now histories.Instant) bool {
	left := plus(c.lease, c.opt.slack())
	return c.ills.open > 0 || c.ills.unhealed || c.ills.healed.Event > 0 && now.Time < plus(c.ills.healed.Time, left)
}

// believed says whether somebody believes at an event to have h, or is owed its lease.
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
			c.fold.Forget(o.Invoke.Attempt)
		}
	}
	for _, h := range last.ghosts {
		if !known[h.Attempt] {
			c.fold.Forget(h.Attempt)
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
