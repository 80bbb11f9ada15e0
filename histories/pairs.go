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
	return f == Lost || f == Abandon || f == Crash || f == Audit
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
	var found problems
	p := newPairer(events, &found)
	for _, e := range events {
		p.add(e)
	}
	return p.ops, found.err()
}

type fault struct {
	f    F
	node string
}

// pairer pairs events as they come. Operations are named by their place in ops.
type pairer struct {
	ops     []Op
	calls   map[int]int   // open call of each process
	faults  map[fault]int // open faults
	retired map[int]int   // process → index of the Info event that retired it
	found   *problems
}

func newPairer(events []Event, found *problems) *pairer {
	n := 0
	for i := range events {
		if events[i].Type == Invoke {
			n++
		}
	}
	return &pairer{
		ops:     make([]Op, 0, n),
		calls:   make(map[int]int),
		faults:  make(map[fault]int),
		retired: make(map[int]int),
		found:   found,
	}
}

func (p *pairer) add(e Event) {
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

func (p *pairer) startFault(e Event) {
	k := fault{e.F, e.Node}
	if i, open := p.faults[k]; open {
		p.found.add(e, "fault %s starts again before it has ended; it started at event %d", k, p.ops[i].Invoke.Index)
	}
	p.faults[k] = p.open(e)
}

func (p *pairer) endFault(e Event) {
	k := fault{e.F, e.Node}
	i, open := p.faults[k]
	if !open {
		p.found.add(e, "fault %s ends but has not started", k)
		return
	}
	delete(p.faults, k)
	p.close(i, e)
}

func (p *pairer) invoke(e Event) {
	if i, gone := p.retired[e.Process]; gone {
		p.found.add(e, "process %d invokes %s but retired at event %d, where its call ended as info; the worker must go on under a new process", e.Process, e.F, i)
	}
	if i, open := p.calls[e.Process]; open {
		o := p.ops[i].Invoke
		p.found.add(e, "process %d invokes %s while its %s of event %d is still open", e.Process, e.F, o.F, o.Index)
	}
	p.calls[e.Process] = p.open(e)
}

func (p *pairer) complete(e Event) {
	i, open := p.calls[e.Process]
	if !open {
		p.found.add(e, "process %d completes %s but has no open call", e.Process, e.F)
		return
	}
	delete(p.calls, e.Process)
	if e.Type == Info {
		p.retired[e.Process] = e.Index
	}
	if o := p.ops[i].Invoke; e.F != o.F || e.Key != o.Key || e.Attempt != o.Attempt {
		p.found.add(e, "process %d completes %s but its open call is %s of event %d", e.Process, call(e), call(o), o.Index)
		return
	}
	p.close(i, e)
}

func (p *pairer) open(e Event) int {
	p.ops = append(p.ops, Op{Invoke: e})
	return len(p.ops) - 1
}

func (p *pairer) close(i int, e Event) {
	p.ops[i].Complete, p.ops[i].Done = e, true
}

func call(e Event) string {
	return fmt.Sprintf("%s of %q, attempt %d", e.F, e.Key, e.Attempt)
}

func (f fault) String() string {
	if f.node == "" {
		return string(f.f)
	}
	return fmt.Sprintf("%s of %s", f.f, f.node)
}
