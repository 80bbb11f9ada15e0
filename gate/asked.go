package gate

import (
	"maps"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/scenarios"
)

// asked is what is wanted of a lock under the steps of a scenario if nobody knows better than
// its user, who asks for whatever a survivor keeps. That the catalogue expects a lock to break
// is no excuse here. What cannot be said of a lock, or of any survivor, is not asked for.
func asked(s scenarios.Scenario, lock string, guard resource.Guard) checker.Expectation {
	want := checker.Expectation{}
	maps.Copy(want, s.Case("", guard).Want)
	if s.Names(lock, guard) {
		for p, v := range s.Case(lock, guard).Want {
			if mute(v) {
				want[p] = v
			}
		}
		return want
	}
	for _, p := range checker.Properties() {
		said := len(s.Survivors()) == 0
		for _, c := range s.Survivors() {
			v, named := c.Want[p]
			said = said || !named || !mute(v)
		}
		if !said {
			want[p] = checker.NotApplicable
		}
	}
	return want
}

// mute says whether a verdict says nothing of a lock.
func mute(v checker.Verdict) bool { return v == checker.Unknown || v == checker.NotApplicable }
