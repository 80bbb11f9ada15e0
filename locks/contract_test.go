package locks_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

func TestContractInVirtualTime(t *testing.T) {
	for _, spec := range libraries.Catalogue() {
		t.Run(spec.Name, func(t *testing.T) {
			locktest.Contract(t, spec, inVirtualTime(spec))
		})
	}
}

func TestContractOnRealServers(t *testing.T) {
	deployments := newServers(t)
	for _, spec := range libraries.Catalogue() {
		switch spec.Name {
		case "redsync-fail-fast":
			continue // P27: on real servers it is chance which clauses its late SETs break
		case "deadline-late":
			continue // P75: on real servers it is chance for how long an answer is on its way
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			locktest.Contract(t, spec, deployments.run(spec))
		})
	}
}

// A broken clause that names nothing would be silent.
func TestBrokenClausesExist(t *testing.T) {
	clauses := locktest.Clauses()
	for _, spec := range libraries.Catalogue() {
		for name, reason := range spec.Breaks {
			i := slices.IndexFunc(clauses, func(c locktest.Clause) bool { return c.Name == name })
			switch {
			case i < 0:
				t.Errorf("%s breaks %q: no clause has that name", spec.Name, name)
			case clauses[i].Applies != nil && !clauses[i].Applies(spec):
				t.Errorf("%s breaks %q: the clause does not concern the lock", spec.Name, name)
			case reason == "":
				t.Errorf("%s breaks %q: no reason is given", spec.Name, name)
			}
		}
	}
}
