package certificate

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
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
	grants  int
	refused map[uint64]*op    // acquires of attempts that made calls nevertheless
	left    []histories.Event // what ended attempts without a call
	texts   []string          // of calls that say more than acquires, releases and extends, and at first none
	byKey   map[string]*table
	open    map[int]calling // by process
	spare   []op            // room for more
	last    *table          // of the last call
	faults  []fault         // in order of starts
	faulty  map[place]int
	crashes map[int][]moment // by worker
	died    map[int]int      // by process, the event of its crash
	hung    []histories.Event
	stalls  []histories.Event

	wire *wire // nil if nothing is proven by commands

	any, server cover // faults, and those that are not of clients alone
	troubled    bool  // there is an event of a fault

	ruling sync.Once // see decided
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
	granted []*hold           // of those that were accepted, in the order in which they were
	told    []histories.Event // audits, and what waits cost
	rulings *orders.Rulings   // of a small key, when it is ruled on; else nil

	// See contests.
	longest  []lasting // of each hold and those before it, the one that lasts longest
	shown    []int     // when the last of each hold and those before it was shown
	answered []int     // when the last release or extend of each call and those before it was answered
	loose    []*op     // releases and extends that are unknown
}

// An op is a call of a client. It has no pointers: there may be millions.
type op struct {
	Call
	outcome                 histories.Type // Info without an answer
	taken, notHeld, invalid bool
	effective               bool   // it took effect, as an explanation has it
	text                    int32  // the place of what was drawn, or of the answer
	hold                    int32  // of an acquire that was not refused, its place among the holds of the key
	from, to                moment // to.event is pending without an answer
	process                 int
	deadline                time.Duration
	token, issued, version  int64 // token: of the answer, or else of the invocation
}

// A calling is a call that has no answer yet.
type calling struct {
	*op
	key *table
	f   histories.F
}

func newTables(terms Terms) *tables {
	return &tables{
		terms: terms, byKey: make(map[string]*table), open: make(map[int]calling), faulty: make(map[place]int),
		crashes: make(map[int][]moment), died: make(map[int]int), refused: make(map[uint64]*op),
		texts: []string{""},
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

// event takes the next event. The error says why it is none that may come next.
func (t *tables) event(e *histories.Event) error {
	switch {
	case e.Single():
		t.single(e)
	case e.Process < 0:
		t.fault(e)
	case e.Type == histories.Invoke:
		if _, open := t.open[e.Process]; open {
			return fmt.Errorf("event %d: process %d makes a call while another is open", e.Index, e.Process)
		}
		k := t.table(e.Key)
		o := t.room()
		*o = op{
			Call: CallOf(e), from: moment{e.Index, e.Time}, to: moment{event: pending}, process: e.Process, token: e.Token,
		}
		if o.F == draw {
			o.text = t.text(e.Value)
		}
		k.calls, k.counter = append(roomier(k.calls), o), k.counter || o.F == incr
		t.open[e.Process] = calling{o, k, e.F}
	default:
		o, open := t.open[e.Process]
		if !open || o.f != e.F || o.key.key != e.Key || o.Attempt != e.Attempt {
			return fmt.Errorf("event %d is the answer to no call of process %d", e.Index, e.Process)
		}
		delete(t.open, e.Process)
		o.key.answers = append(roomier(o.key.answers), o.op)
		o.to, o.outcome, o.deadline, o.version = moment{e.Index, e.Time}, e.Type, e.Deadline, e.Version
		o.token, o.issued = cmp.Or(e.Token, o.token), e.Token
		o.taken, o.notHeld, o.invalid = e.Taken(), e.NotHeld(), e.Invalid()
		t.grants += b2i(o.F == acquire && o.granted())
		if !locks(o.F) && o.F != draw {
			o.text = t.text(e.Value)
		}
	}
	return nil
}

// text keeps what a call says, and returns its place.
func (t *tables) text(s string) int32 {
	if s == "" {
		return 0
	}
	t.texts = append(t.texts, s)
	return int32(len(t.texts) - 1)
}

// roomier has room for one more. It doubles what it has, as copying costs more than room.
func roomier[S ~[]E, E any](s S) S {
	if len(s) == cap(s) {
		return slices.Grow(s, max(len(s), 1))
	}
	return s
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
	t.troubled = true
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
	t.of = make(map[uint64]*hold, t.grants)
	t.any, t.server = t.covering(func(fault) bool { return true }), t.covering(func(f fault) bool { return !t.ofClient(f) })
	for _, k := range t.keys {
		k.pair()
	}
	for _, e := range t.left {
		if h := t.of[e.Attempt]; h != nil && e.Process >= 0 {
			h.finish(moment{e.Index, e.Time}, kindOf(e.F))
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
