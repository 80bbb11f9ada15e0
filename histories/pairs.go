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

// Fault says whether o is a fault rather than a client's call.
func (o Op) Fault() bool { return o.Invoke.Process == Nemesis }

// Single says whether e stands alone: an Info event that completes no call.
func (e Event) Single() bool { return e.Type == Info && e.F.single() }

func (f F) single() bool {
	switch f {
	case Lost, Abandon, Crash, Waited, Audit, Missed, Hung, Stall, Standstill, Died:
		return true
	}
	return false
}

// Singles returns the events that stand alone, in order. Pair returns all others.
func Singles(events []Event) []Event {
	var singles []Event
	for _, e := range events {
		if e.Single() {
			singles = append(singles, e)
		}
	}
	return singles
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
	n := 0
	for i := range events {
		if events[i].Type == Invoke {
			n++
		}
	}
	ops := make([]Op, 0, n)
	var found problems
	p := pairer{
		found:  &found,
		opened: func(_ int, invoke *Event) { ops = append(ops, Op{Invoke: *invoke}) },
		closed: func(n int, _, complete *Event) { ops[n].Complete, ops[n].Done = *complete, true },
	}
	for i := range events {
		p.add(&events[i])
	}
	return ops, found.err()
}

type fault struct {
	f    F
	node string
}

// pairer pairs events as they come, and keeps open operations alone. They are numbered
// from 0 in the order in which they were invoked.
type pairer struct {
	found  *problems
	opened func(n int, invoke *Event)           // may be nil
	closed func(n int, invoke, complete *Event) // of the n-th operation; may be nil

	begun  int
	faults map[fault]begun
	known  table[process] // by number
}

// begun is an operation that began.
type begun struct {
	n      int
	invoke Event
}

// process is what is known of a process.
type process struct {
	call    *begun // if open; kept for the next call
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
		p.found.add(e, "fault %s starts again before it has ended; it started at event %d", k, o.invoke.Index)
	}
	if p.faults == nil {
		p.faults = make(map[fault]begun)
	}
	p.faults[k] = p.open(e)
}

func (p *pairer) endFault(e *Event) {
	k := fault{e.F, e.Node}
	o, open := p.faults[k]
	if !open {
		p.found.add(e, "fault %s ends but has not started", k)
		return
	}
	delete(p.faults, k)
	p.close(&o, e)
}

func (p *pairer) invoke(e *Event) {
	c := p.process(e.Process)
	if c.gone {
		p.found.add(e, "process %d invokes %s but retired at event %d, where its call ended as info; the worker must go on under a new process", e.Process, e.F, c.retired)
	}
	if c.open {
		o := &c.call.invoke
		p.found.add(e, "process %d invokes %s while its %s of event %d is still open", e.Process, e.F, o.F, o.Index)
	}
	if c.call == nil {
		c.call = new(begun)
	}
	*c.call, c.open = p.open(e), true
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
	if i := &o.invoke; e.F != i.F || e.Key != i.Key || e.Attempt != i.Attempt {
		p.found.add(e, "process %d completes %s but its open call is %s of event %d", e.Process, call(e), call(i), i.Index)
		return
	}
	p.close(o, e)
}

func (p *pairer) open(e *Event) begun {
	if p.opened != nil {
		p.opened(p.begun, e)
	}
	p.begun++
	return begun{n: p.begun - 1, invoke: *e}
}

func (p *pairer) close(o *begun, e *Event) {
	if p.closed != nil {
		p.closed(o.n, &o.invoke, e)
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
