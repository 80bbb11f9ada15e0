package scenarios

import (
	"fmt"
	"maps"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/player"
)

// Remedy is what those who run the servers can do against a pitfall, where no other lock and
// no guard is needed.
type Remedy struct {
	Name  string // aof-always
	Title string // in place of the scenario's, with the remedy in place
	// Script has the same steps with the remedy in place.
	Script player.Script
	// Gaps are the backends that cannot have the remedy, and why, beside those that cannot
	// play the scenario.
	Gaps map[string]string
}

// With is the scenario with a remedy in place: an empty name is none, and an unknown one a
// *catalogue.UnknownError.
func (s Scenario) With(remedy string) (Scenario, error) {
	if remedy == "" {
		return s, nil
	}
	if len(s.Remedies) == 0 {
		return s, fmt.Errorf("scenario %s has no remedies, and %q was asked for", s.Name, remedy)
	}
	var known []string
	for _, r := range s.Remedies {
		if r.Name != remedy {
			known = append(known, r.Name)
			continue
		}
		gaps := maps.Clone(s.Gaps)
		if gaps == nil {
			gaps = map[string]string{}
		}
		maps.Copy(gaps, r.Gaps)
		s.remedy, s.Title, s.Script, s.Gaps = r.Name, r.Title, r.Script, gaps
		return s, nil
	}
	return s, catalogue.Unknown("remedy", remedy, known)
}
