package checker

import "github.com/lockbench/lockbench/histories"

// healed says whether a fault is known to be over. One whose end was not recorded,
// or recorded as of unknown outcome, may be in force for ever.
func healed(fault histories.Op) bool {
	return fault.Done && fault.Complete.Type != histories.Info
}

// inForce says whether a fault may have been in force at some time between two
// events.
func inForce(fault histories.Op, from, to int) bool {
	return fault.Invoke.Index < to && (!healed(fault) || fault.Complete.Index > from)
}
