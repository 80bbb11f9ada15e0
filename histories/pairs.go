package histories

import "fmt"

// An Op is one operation: a client's call, or a fault from its start to its end.
type Op struct {
	Invoke   Event
	Complete Event // zero if there is none
	Done     bool  // there is a Complete
}

// Outcome is OK, Fail or Info. An Op without a completion is Info.
func (o Op) Outcome() Type {
	if !o.Done {
		return Info
	}
	return o.Complete.Type
}

// Fault reports whether o is a fault rather than a client's call.
func (o Op) Fault() bool { return o.Invoke.Process == Nemesis }

// Single reports whether e stands alone: an Info event that completes no call.
func (e Event) Single() bool { return e.Type == Info && e.F.single() }

func (f F) single() bool {
	switch f {
	case Lost, Abandon, Crash, Waited, Audit, Missed, Hung, Stall, Standstill, Died:
		return true
	}
	return false
}

// Pair returns the operations of a history in the order of their invocations,
// calls and faults alike.
//
// A client process makes one call at a time. A completion has the F, Key and
// Attempt of the process's open call, and after an Info completion the process
// retires. A fault's end has the F and Node of its start.
//
// The error joins one sentence per violation, up to a limit. Operations are returned
// even then: one whose completion was refused stands as unknown.
func Pair(events []Event) ([]Op, error) {
	var begun []*Op
	var found problems
	p := pairer{found: &found, opened: func(o *Op) { begun = append(begun, o) }}
	for i := range events {
		p.add(&events[i])
	}
	ops := make([]Op, len(begun))
	for i, o := range begun {
		ops[i] = *o
	}
	return ops, found.err()
}

type fault struct {
	f    F
	node string
}

// pairer pairs events as they come, and keeps open operations alone.
type pairer struct {
	found  *problems
	opened func(*Op) // an operation began; may be nil
	closed func(*Op) // it ended; may be nil

	faults map[fault]*Op
	known  table[process] // by number
	room   []Op           // for more operations
}

// process is what is known of a process.
type process struct {
	call    *Op // the last one, unless it is known to be the last of all
	open    bool
	gone    bool
	retired int // event that retired it, if gone

	known  bool // to the validator
	worker int  // if known
}

// process returns what is known of a process.
func (p *pairer) process(number int) *process { return p.known.of(uint64(number)) }

func (p *pairer) add(e *Event) {
	switch {
	case e.Type > Fail:
		p.found.add(e, "%v", badType(e.Type.String()))
	case e.Process < Nemesis:
		p.found.add(e, "process is %d, want a client from 0 up or %d for a fault", e.Process, Nemesis)
	case e.Single():
	case e.F.single() && e.Process != Nemesis:
		p.found.add(e, "%s is a single event, so its type is info, found %s", e.F, e.Type)
	case e.Process == Nemesis && e.Type == Invoke:
		p.startFault(e)
	case e.Process == Nemesis:
		p.endFault(e)
	case e.Type == Invoke:
		p.invoke(e)
	default:
		p.complete(e)
	}
}

func (p *pairer) startFault(e *Event) {
	k := fault{e.F, e.Node}
	if o, open := p.faults[k]; open {
		p.found.add(e, "fault %s starts again before it has ended; it started at event %d", k, o.Invoke.Index)
	}
	if p.faults == nil {
		p.faults = make(map[fault]*Op)
	}
	p.faults[k] = p.begin(e)
	if p.opened != nil {
		p.opened(p.faults[k])
	}
}

func (p *pairer) endFault(e *Event) {
	k := fault{e.F, e.Node}
	o, open := p.faults[k]
	if !open {
		p.found.add(e, "fault %s ends but has not started", k)
		return
	}
	delete(p.faults, k)
	p.end(o, e)
}

func (p *pairer) invoke(e *Event) {
	c := p.process(e.Process)
	if c.gone {
		p.found.add(e, "process %d invokes %s but retired at event %d, where its call ended as info; the worker must go on under a new process", e.Process, e.F, c.retired)
	}
	if c.open {
		o := &c.call.Invoke
		p.found.add(e, "process %d invokes %s while its %s of event %d is still open", e.Process, e.F, o.F, o.Index)
	}
	c.call, c.open = p.begin(e), true
	if p.opened != nil {
		p.opened(c.call)
	}
}

func (p *pairer) complete(e *Event) {
	c := p.process(e.Process)
	if !c.open {
		p.found.add(e, "process %d completes %s but has no open call", e.Process, e.F)
		return
	}
	o := c.call
	c.open = false
	if e.Type == Info {
		c.gone, c.retired, c.call = true, e.Index, nil
	}
	if i := &o.Invoke; e.F != i.F || e.Key != i.Key || e.Attempt != i.Attempt {
		p.found.add(e, "process %d completes %s but its open call is %s of event %d", e.Process, call(e), call(i), i.Index)
		return
	}
	p.end(o, e)
}

// slab is how many operations are allocated at once.
const slab = 16

func (p *pairer) begin(e *Event) *Op {
	if len(p.room) == 0 {
		p.room = make([]Op, slab)
	}
	o := &p.room[0]
	p.room = p.room[1:]
	o.Invoke = *e
	return o
}

func (p *pairer) end(o *Op, e *Event) {
	o.Complete, o.Done = *e, true
	if p.closed != nil {
		p.closed(o)
	}
}

func call(e *Event) string {
	return fmt.Sprintf("%s of %q, attempt %d", e.F, e.Key, e.Attempt)
}

func (f fault) String() string {
	if f.node == "" {
		return string(f.f)
	}
	return fmt.Sprintf("%s of %s", f.f, f.node)
}
