package scenarios_test

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/scenarios"
)

// harmless are scenarios of which no lock suffers: they show what a lock says of what it meets.
func harmless() map[string]bool { return map[string]bool{"P53": true} }

// TestControls: of what the lock of a scenario breaks, another case keeps something under the same steps: a lock without the broken
// line, a guard or a remedy. What the steps do alone is then not what breaks it. That each case comes out so is for runs to show.
func TestControls(t *testing.T) {
	for _, s := range scenarios.All() {
		var breaks []checker.Property
		for property, verdict := range s.Broken().Want {
			if verdict == checker.Fail {
				breaks = append(breaks, property)
			}
		}
		if (len(breaks) == 0) != harmless()[s.ID] {
			t.Errorf("%s %s breaks %v, and harmless are %v", s.ID, s.Name, breaks, harmless())
		}
		kept := false
		for _, c := range s.Cases {
			for _, property := range breaks {
				kept = kept || c.Want[property] != checker.Fail
			}
		}
		if len(breaks) > 0 && !kept {
			t.Errorf("%s %s has no control: each case breaks %v", s.ID, s.Name, breaks)
		}
	}
}
