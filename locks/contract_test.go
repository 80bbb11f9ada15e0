package locks_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locks/locktest"
)

func TestContractInVirtualTime(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			locktest.Contract(t, spec, inVirtualTime(spec))
		})
	}
}

func TestContractOnRealServers(t *testing.T) {
	deployments := newServers(t)
	for _, spec := range locks.All() {
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

// A line of the table of broken clauses that names nothing would be silent.
func TestBrokenClausesExist(t *testing.T) {
	clauses := locktest.Clauses()
	for _, f := range locktest.Flaws() {
		spec, err := locks.Find(f.Lock)
		if err != nil {
			t.Errorf("%+v: %v", f, err)
			continue
		}
		i := slices.IndexFunc(clauses, func(c locktest.Clause) bool { return c.Name == f.Clause })
		switch {
		case i < 0:
			t.Errorf("%+v: no clause has that name", f)
		case clauses[i].Applies != nil && !clauses[i].Applies(spec):
			t.Errorf("%+v: the clause does not concern the lock", f)
		case f.Reason == "":
			t.Errorf("%+v: no reason is given", f)
		}
	}
}
