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

// spared is how many calls of a stretch are not worth a cut.
const spared = 4096

// cut cuts the stretches of a history.
func (r *record) cut(opt Options) {
	least := cmp.Or(opt.spared, spared)
	var all []*stretch
	for _, s := range r.stretches {
		all = append(all, s.cut(opt, least)...)
	}
	r.stretches = all
}

// A cutter cuts the stretch of a key.
type cutter struct {
	whole  *stretch
	opt    Options
	sick   cover // faults, with what they leave behind
	spared int

	part   *stretch
	held   []*histories.Hold // that are still to come
	flying []*histories.Op   // calls that are under way
	loose  []*histories.Hold // attempts that may be in force
	parts  []*stretch
}

// cut returns the parts of a stretch, each with so many calls at least of its own.
func (s *stretch) cut(opt Options, spared int) []*stretch {
	if len(s.calls) <= spared {
		return []*stretch{s}
	}
	c := cutter{whole: s, opt: opt, spared: spared, held: s.holds, sick: s.leftovers(opt)}
	c.part = &stretch{record: s.record, key: s.key, counter: s.counter, to: len(s.Times)}
	begun := 0
	for _, o := range s.returns {
		for ; begun < len(s.calls) && s.calls[begun].Invoke.Index < o.Complete.Index; begun++ {
			c.begin(s.calls[begun])
		}
		c.end(o)
	}
	for ; begun < len(s.calls); begun++ {
		c.begin(s.calls[begun])
	}
	c.parts = append(c.parts, c.part)
	for _, e := range s.singles {
		i := slices.IndexFunc(c.parts, func(p *stretch) bool { return p.mine(e.Index) })
		c.parts[i].singles = append(c.parts[i].singles, e)
	}
	for _, p := range c.parts {
		p.leases = newLeases(p.holds)
	}
	return c.parts
}

// leftovers are the spans of faults and of what they leave behind on a key.
func (s *stretch) leftovers(opt Options) cover {
	var lease time.Duration
	for _, o := range s.calls {
		lease = max(lease, o.Invoke.TTL)
	}
	var sick []span
	for _, f := range s.Faults {
		ill := force(f)
		if healed(f) {
			ill.to = gapAt(s.Times, plus(f.Complete.Time, plus(lease, opt.slack())))
		}
		sick = append(sick, ill)
	}
	return newCover(sick)
}

// begin takes a call that is invoked.
func (c *cutter) begin(o *histories.Op) {
	c.part.calls = append(c.part.calls, o)
	c.flying = append(c.flying, o)
	if len(c.held) > 0 && c.held[0].Invoked.Event == o.Invoke.Index {
		c.part.holds, c.loose = append(c.part.holds, c.held[0]), append(c.loose, c.held[0])
		c.held = c.held[1:]
	}
}

// end takes a call that returns.
func (c *cutter) end(o *histories.Op) {
	i := slices.Index(c.flying, o)
	c.flying = slices.Delete(c.flying, i, i+1)
	if o.Invoke.F != histories.Release || o.Outcome() != histories.OK {
		return
	}
	i = slices.IndexFunc(c.loose, func(h *histories.Hold) bool { return h.Attempt == o.Invoke.Attempt })
	if i < 0 {
		return
	}
	c.loose = slices.Delete(c.loose, i, i+1)
	if len(c.part.calls)-c.part.carried >= c.spared && c.quiet(o) {
		c.begun(o)
	}
}

// quiet says whether nobody believes to have the key when a release has been accepted.
func (c *cutter) quiet(release *histories.Op) bool {
	now := release.Complete
	if slices.ContainsFunc(c.flying, func(o *histories.Op) bool {
		return o.Invoke.F != histories.Acquire && c.whole.calling(o).to > at(now.Index)
	}) || c.sick.meets(between(now.Index, now.Index+1)) {
		return false
	}
	return !slices.ContainsFunc(c.loose, func(h *histories.Hold) bool { return c.inForce(h, now) })
}

// inForce says whether somebody believes at an event to have h, or is owed its lease.
func (c *cutter) inForce(h *histories.Hold, now histories.Event) bool {
	proof := grantOf(h)
	if proof == (histories.Instant{}) || proof.Event > now.Index {
		return false
	}
	if h.Open() || h.Ended.Event > now.Index {
		return true
	}
	given, _ := givenUp(h)
	return given > at(now.Index) && mayRunUntil(h, 0) >= now.Time
}

// begun begins the next part after a release.
func (c *cutter) begun(release *histories.Op) {
	last := c.part
	last.to = release.Complete.Index + 1
	last.settled = release.Invoke.Index
	for _, o := range c.flying {
		last.settled = min(last.settled, o.Invoke.Index)
	}
	kept := c.kept(last)
	next := &stretch{record: last.record, key: last.key, counter: last.counter, lo: last.settled, from: last.to, to: len(last.Times), number: last.number + 1}
	for _, o := range last.calls {
		if kept[o.Invoke.Attempt] {
			next.calls = append(next.calls, o)
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
		if other := ghosts[ghostOf(h)]; other == nil || mayRunUntil(h, 0) > mayRunUntil(other, 0) {
			ghosts[ghostOf(h)] = h
		}
	}
	next.ghosts = slices.SortedFunc(maps.Values(ghosts), func(a, b *histories.Hold) int { return a.Invoked.Event - b.Invoked.Event })
	c.loose = slices.DeleteFunc(c.loose, func(h *histories.Hold) bool { return !kept[h.Attempt] })
	c.parts, c.part = append(c.parts, last), next
}

// A ghost is what a server may still have of the holds of earlier stretches that were never known to
// be given back. Of those that tell the judges the same, the one that may last longest is enough.
type ghost struct {
	worker  int
	granted bool
	mode    histories.Mode
}

func ghostOf(h *histories.Hold) ghost { return ghost{h.Worker, h.Outcome == histories.OK, h.Mode} }

// mostDoubtful is how many attempts of one worker are carried on because a release or an extend of
// theirs may reach the key yet. It takes two to tell one from another.
const mostDoubtful = 2

// kept are the attempts that are carried from a part into the next.
func (c *cutter) kept(last *stretch) map[uint64]bool {
	kept := make(map[uint64]bool)
	counted := make(map[uint64]bool) // attempts of holds that a lock may count
	for _, h := range last.holds {
		if h.Mode == histories.Reentrant {
			counted[h.Attempt] = true
		}
	}
	doubtful := make(map[int]map[uint64]bool) // by worker
	latest := make(map[int]bool)              // workers whose last attempt is known
	for _, o := range slices.Backward(last.calls) {
		attempt, worker := o.Invoke.Attempt, o.Invoke.Worker
		done := o.Done && o.Complete.Index < last.to
		open := done && o.Outcome() == histories.Info
		reaches := open && (o.Invoke.F == histories.Release || o.Invoke.F == histories.Extend)
		switch of := doubtful[worker]; {
		case !done, o.Complete.Index >= last.settled, open && counted[attempt], !latest[worker] && last.mine(o.Invoke.Index):
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

// asked says whether the acquire of an attempt is known.
func (s *stretch) asked(attempt uint64) bool {
	return s.number == 0 || slices.ContainsFunc(s.calls, func(o *histories.Op) bool {
		return o.Invoke.F == histories.Acquire && o.Invoke.Attempt == attempt
	})
}

// over is the event at which a call returned, or the last one if it never did.
func (s *stretch) over(o *histories.Op) int {
	if o.Done {
		return o.Complete.Index
	}
	return len(s.Times) - 1
}

// mine says whether an event belongs to the stretch and to no other.
func (s *stretch) mine(event int) bool { return s.from <= event && event < s.to }
