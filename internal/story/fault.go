package story

import (
	"strings"

	"github.com/lockbench/lockbench/histories"
)

// A Fault is something that went wrong, from its beginning to its end.
type Fault struct {
	histories.Op
}

func faults(operations []histories.Op) []Fault {
	var all []Fault
	for _, o := range operations {
		if o.Fault() {
			all = append(all, Fault{o})
		}
	}
	return all
}

// Name is what went wrong and whom it struck, such as "kill master".
func (f Fault) Name() string { return strings.TrimSpace(string(f.Invoke.F) + " " + f.Invoke.Node) }

// Over reports whether the fault has certainly ended. One whose end has an unknown outcome may be in force still.
func (f Fault) Over() bool { return f.Done && f.Complete.Type != histories.Info }

// Failed reports whether the fault could not be made, or nobody knows whether it could.
func (f Fault) Failed() bool { return f.Done && f.Complete.Type != histories.OK }

// Effect is what the fault does or, of one that begins and ends at the same instant, what it did.
func (f Fault) Effect() string {
	if f.Done && f.Complete.Time == f.Invoke.Time {
		return f.Complete.Value
	}
	return f.Invoke.Value
}
