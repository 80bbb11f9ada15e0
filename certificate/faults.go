package certificate

import (
	"github.com/lockbench/lockbench/histories"
)

// faults follows the faults of a history, from an event on that begins what is proven.
type faults struct {
	open   map[fault]int // those in force, by the event at which they began
	latest int           // the last event at which one was in force or began
	broken int           // an event at which one was in force that may have changed what a server holds, -1: none
}

type fault struct {
	f    histories.F
	node string
}

func newFaults() faults { return faults{open: make(map[fault]int), broken: -1} }

// harmless says whether a fault does no more than hold up a client.
func (f fault) harmless() bool { return f.f == "hold" || f.f == "pause" }

// event takes an event of a fault.
func (f *faults) event(e *histories.Event, begun bool) {
	if e.Process != histories.Nemesis || e.Single() {
		return
	}
	one := fault{e.F, e.Node}
	f.latest = e.Index
	switch {
	case e.Type == histories.Invoke:
		f.open[one] = e.Index
	case e.Type != histories.Info: // else it may be in force for ever
		delete(f.open, one)
	}
	if begun && !one.harmless() && f.broken < 0 {
		f.broken = e.Index
	}
}

// begin is called when what is proven begins.
func (f *faults) begin() {
	for one, event := range f.open {
		if !one.harmless() && (f.broken < 0 || event < f.broken) {
			f.broken = event
		}
	}
}

// during says whether a fault was in force since an event.
func (f *faults) during(since int) bool { return len(f.open) > 0 || f.latest > since }
