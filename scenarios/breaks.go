package scenarios

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
)

// Breaks reports whether the scenario breaks a lock that is not sound: whether it is expected to break something that a sound lock
// of those in among keeps under the same steps, on as many masters or if both promise to survive a failover. What is expected
// comes true in runs, or the gate fails.
func (s Scenario) Breaks(lock locks.Spec, among locks.Catalogue) bool {
	return !lock.Sound && slices.ContainsFunc(s.Cases, func(c Case) bool {
		return c.Lock == lock.Name && c.Remedy == "" && s.avoidable(c, lock, among)
	})
}

// avoidable reports whether a case breaks something that such a sound lock keeps.
func (s Scenario) avoidable(c Case, lock locks.Spec, among locks.Catalogue) bool {
	return slices.ContainsFunc(s.Cases, func(d Case) bool {
		twin, err := among.Find(d.Lock)
		alike := lock.Class().Failover || (twin.Masters > 1) == (lock.Masters > 1)
		if err != nil || !twin.Sound || !alike || d.Guard != c.Guard || d.Remedy != "" {
			return false
		}
		for p, v := range c.Want {
			if v == checker.Fail && d.Want[p] != checker.Fail {
				return true
			}
		}
		return false
	})
}
