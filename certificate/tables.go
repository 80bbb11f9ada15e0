package certificate

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A moment is an event and its time.
type moment struct {
	event int
	time  time.Duration
}

// tables are what is kept of a history in order to look for a rule in it.
type tables struct {
	terms   Terms
	times   []time.Duration // of events
	keys    []*table        // in order of first calls
	of      map[uint64]*hold
	refused map[uint64]*op    // acquires of attempts that made calls nevertheless
	left    []histories.Event // what ended attempts without a call
	byKey   map[string]*table
	open    map[int]*op // by process
	spare   []op        // room for more
	last    *table      // of the last call
	faults  []fault     // in order of starts
	faulty  map[place]int
	crashes map[int][]moment // by worker
	died    map[int]int      // by process, the event of its crash
	hung    []histories.Event
	stalls  []histories.Event

	any, server cover // faults, and those that are not of clients alone
}

type place struct {
	f    histories.F
	node string
}

// A fault is in force in a span.
type fault struct {
	place
	span
	over time.Duration // when it ended
}

// A table is what happened on one key, in order of invocations.
type table struct {
	*tables
	key     string
	counter bool // somebody increments what the key is of
	calls   []*op
	answers []*op             // of the calls, in the order in which they returned
	holds   []*hold           // of acquires that were not refused
	told    []histories.Event // audits, and what waits cost

	// See contests.
	longest  []lasting // of each hold and those before it, the one that lasts longest
	shown    []int     // when the last of each hold and those before it was shown
	answered []int     // when the last release or extend of each call and those before it was answered
	loose    []*op     // releases and extends that are unknown
}

// An op is a call of a client.
type op struct {
	Call
	key                     *table
	from, to                moment         // to.event is pending without an answer
	outcome                 histories.Type // Info without an answer
	process                 int
	number                  int // of the calls on the lock of its key
	deadline                time.Duration
	token, issued, version  int64  // token: of the answer, or else of the invocation
	value, said             string // of the invocation, of the answer
	taken, notHeld, invalid bool
}

// A hold is an attempt that was granted, or may have been.
type hold struct {
	*op
	end      moment // of the belief; event pending: none
	by       histories.F
	extends  []*op // that were not refused
	releases []*op
	lease    []step // own
	common   []step // with the extends of what its client entered besides; nil: the same
	spent    int    // event from which on a release of something else may have given it back, or pending

	one   [1]*op  // room for the first release
	first [1]step // and for the lease of what is not extended
}

func newTables(terms Terms) *tables {
	return &tables{
		terms: terms, byKey: make(map[string]*table), open: make(map[int]*op), faulty: make(map[place]int),
		crashes: make(map[int][]moment), died: make(map[int]int), of: make(map[uint64]*hold), refused: make(map[uint64]*op),
	}
}

func (t *tables) table(key string) *table {
	if t.last != nil && t.last.key == key {
		return t.last
	}
	k := t.byKey[key]
	if k == nil {
		k = &table{tables: t, key: key}
		t.byKey[key] = k
		t.keys = append(t.keys, k)
	}
	t.last = k
	return k
}

// event takes the next event.
func (t *tables) event(e *histories.Event) {
	t.times = append(t.times, e.Time)
	switch {
	case e.Single():
		t.single(e)
	case e.Process < 0:
		t.fault(e)
	case e.Type == histories.Invoke:
		k := t.table(e.Key)
		o := t.room()
		*o = op{
			Call: CallOf(e), key: k, from: moment{e.Index, e.Time}, to: moment{event: pending}, process: e.Process, token: e.Token, value: e.Value,
		}
		k.calls, k.counter = append(k.calls, o), k.counter || e.F == histories.Incr
		t.open[e.Process] = o
	default:
		o := t.open[e.Process]
		delete(t.open, e.Process)
		o.key.answers = append(o.key.answers, o)
		o.to, o.outcome, o.deadline, o.version, o.said = moment{e.Index, e.Time}, e.Type, e.Deadline, e.Version, e.Value
		o.token, o.issued = cmp.Or(e.Token, o.token), e.Token
		o.taken, o.notHeld, o.invalid = e.Taken(), e.NotHeld(), e.Invalid()
	}
}

// slab is how many are allocated at once of what there will be many of.
const slab = 256

// room returns a call that nobody has.
func (t *tables) room() *op {
	if len(t.spare) == 0 {
		t.spare = make([]op, slab)
	}
	o := &t.spare[0]
	t.spare = t.spare[1:]
	return o
}

func (t *tables) single(e *histories.Event) {
	switch e.F {
	case histories.Hung:
		t.hung = append(t.hung, *e)
	case histories.Stall:
		t.stalls = append(t.stalls, *e)
	case histories.Crash:
		t.crashes[e.Worker] = append(t.crashes[e.Worker], moment{e.Index, e.Time})
		t.died[e.Process] = e.Index
	case histories.Audit, histories.Waited:
		k := t.table(e.Key)
		k.told = append(k.told, *e)
	case histories.Lost, histories.Abandon:
		t.left = append(t.left, *e)
	}
}

func (t *tables) fault(e *histories.Event) {
	p := place{e.F, e.Node}
	switch i, begun := t.faulty[p]; {
	case e.Type == histories.Invoke:
		t.faulty[p] = len(t.faults)
		t.faults = append(t.faults, fault{p, span{at(e.Index), never}, forever})
	case begun && e.Type != histories.Info: // else it may be in force for ever
		t.faults[i].to, t.faults[i].over = at(e.Index), e.Time
		delete(t.faulty, p)
	}
}

// end is called after the last event.
func (t *tables) end() {
	t.any, t.server = t.covering(func(fault) bool { return true }), t.covering(func(f fault) bool { return !t.ofClient(f) })
	for _, k := range t.keys {
		k.pair()
	}
	for _, e := range t.left {
		if h := t.of[e.Attempt]; h != nil && e.Process >= 0 {
			h.finish(moment{e.Index, e.Time}, e.F)
		}
	}
	for _, k := range t.keys {
		k.leases()
		k.contests()
	}
}

func (t *tables) ofClient(f fault) bool { return slices.Contains(t.terms.ClientFaults, string(f.f)) }

// gap is the rank at which a time is reached.
func (t *tables) gap(when time.Duration) rank {
	i, _ := slices.BinarySearch(t.times, when)
	return rank(2 * i)
}

// pair finds the holds of a key.
func (k *table) pair() {
	var room []hold
	orphans := make(map[uint64]bool) // attempts that are no holds, and make calls
	for _, o := range k.calls {
		switch o.F {
		case histories.Acquire:
			if o.outcome == histories.Fail {
				continue
			}
			if len(room) == 0 {
				room = make([]hold, slab)
			}
			h := &room[0]
			room = room[1:]
			h.op, h.end.event, h.spent, h.releases = o, pending, pending, h.one[:0]
			k.holds, k.of[o.Attempt] = append(k.holds, h), h
		case histories.Extend, histories.Release:
			h := k.of[o.Attempt]
			switch {
			case h == nil:
				orphans[o.Attempt] = true
			case o.F == histories.Release:
				h.releases = append(h.releases, o)
				h.finish(o.from, histories.Release)
			case o.outcome != histories.Fail:
				h.extends = append(h.extends, o)
			}
		}
	}
	for _, o := range k.calls {
		if len(orphans) > 0 && o.F == histories.Acquire && o.outcome == histories.Fail && orphans[o.Attempt] {
			k.refused[o.Attempt] = o
		}
	}
	for _, h := range k.holds {
		crashes := k.crashes[h.Worker]
		i, _ := slices.BinarySearchFunc(crashes, h.from.event, func(c moment, event int) int { return c.event - event })
		if i < len(crashes) {
			h.finish(crashes[i], histories.Crash)
		}
	}
}

func (h *hold) finish(m moment, by histories.F) {
	if m.event > h.from.event && m.event < h.end.event {
		h.end, h.by = m, by
	}
}

// granted says whether a call was accepted.
func (o *op) granted() bool { return o.outcome == histories.OK }

// refused says whether it was told that the key is taken, or not its own. Other failures say nothing of a
// key.
func (o *op) refused() bool  { return o.taken || o.notHeld }
func (h *hold) isOpen() bool { return h.by == "" }

func (h *hold) shares(o *hold) bool { return h.Shares(&o.Call) }

// A party are those who may share a key: readers, the re-entries of one worker, or one attempt.
type party struct {
	mode   histories.Mode
	worker int    // of re-entries
	n      uint64 // the attempt of who shares with nobody; see stays
}

func (h *hold) party() party {
	switch h.Mode {
	case histories.Shared:
		return party{mode: h.Mode}
	case histories.Reentrant:
		return party{mode: h.Mode, worker: h.Worker}
	}
	return party{n: h.Attempt}
}

// accepted is the first release that was accepted, or nil.
func (h *hold) accepted() *op {
	for _, r := range h.releases {
		if r.outcome == histories.OK {
			return r
		}
	}
	return nil
}

// givesBack says whether another release than that of an event may have had its effect before an event.
func (h *hold) givesBack(but, before int) bool {
	return slices.ContainsFunc(h.releases, func(r *op) bool {
		return r.outcome != histories.Fail && r.from.event != but && r.from.event < before
	})
}

// proof is when it was certain that h had been granted.
func (h *hold) proof() moment {
	if h.granted() {
		return h.to
	}
	for _, x := range h.extends {
		if x.outcome == histories.OK {
			return x.to
		}
	}
	return moment{event: pending}
}

// covering covers the faults that are so.
func (t *tables) covering(which func(fault) bool) cover {
	var spans []span
	for _, f := range t.faults {
		if which(f) {
			spans = append(spans, f.span)
		}
	}
	return newCover(spans)
}

// calm is where the last fault ended; never if one may be in force for ever.
func (t *tables) calm() (last rank) {
	for _, f := range t.faults {
		last = max(last, f.to)
	}
	return last
}

// calling is the span of a call. One without an answer ends with the crash of its process, or never.
func (t *tables) calling(o *op) span {
	s := between(o.from.event, o.to.event)
	if crash, ok := t.died[o.process]; ok && s.to == never && crash > o.from.event {
		s.to = at(crash)
	}
	return s
}
