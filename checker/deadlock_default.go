package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// outlasts returns the acquire without a TTL by which somebody holds the key that an audit found, if
// the key has no end, or a later one than the lock promises by default, by more than slack. It is nil if
// the lock promises none, if somebody else may have the key, if the lease was extended, or if there was a fault
// before.
func (d *demand) outlasts(audit histories.Event, slack time.Duration) *histories.Op {
	var owner *histories.Hold
	for i, h := range d.holds {
		s := d.busy[len(d.busy)-len(d.holds)+i]
		if s.from >= at(audit.Index) || at(audit.Index) >= s.to {
			continue
		}
		if owner != nil {
			return nil
		}
		owner = h
	}
	if owner == nil || owner.Outcome != histories.OK || len(owner.Extends)+len(owner.Unknown) > 0 || owner.Returned.Event > audit.Index {
		return nil
	}
	i := slices.IndexFunc(d.asked, func(o *histories.Op) bool {
		return o.Invoke.F == histories.Acquire && o.Invoke.Attempt == owner.Attempt
	})
	if i < 0 || !d.asked[i].Invoke.WithoutTTL() || owner.TTL <= 0 {
		return nil
	}
	faulty := slices.ContainsFunc(d.Faults, func(f *histories.Op) bool { return f.Invoke.Index < audit.Index })
	if faulty || audit.TTL != histories.NoTTL && audit.TTL <= plus(owner.TTL, slack) {
		return nil
	}
	return d.asked[i]
}

func tellOutlasts(o *histories.Op, audit histories.Event) string {
	end := "had no time to live"
	if audit.TTL != histories.NoTTL {
		end = "was to live for another " + words.Seconds(audit.TTL)
	}
	return fmt.Sprintf("%s did not say for how long it wanted %s, for which the lock promises %s; at %s its key %s.",
		histories.WorkerName(o.Invoke.Worker), audit.Key, words.Seconds(o.Invoke.TTL), words.Seconds(audit.Time), end)
}
