package locks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/contract"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// In virtual time package locktest holds all locks to the contract (TestCatalogue there), as it does a user's.

func TestContractOnRealServers(t *testing.T) {
	deployments, clauses := newServers(t), onServers()
	for _, spec := range libraries.Catalogue() {
		if len(clauses[spec.Name]) == 0 {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			hold(t, spec, clauses[spec.Name], true, deployments.run(spec))
		})
	}
}

// byChance reports whether chance, or a wait for each call, decides on real servers what a lock breaks.
func byChance(lock string) bool {
	switch lock {
	case "redsync-fail-fast":
		return true // P27: it is chance which clauses its late SETs break
	case "set-exat":
		return true // EXAT counts whole seconds: it is chance by how much a lease of less is longer
	case "setnx-expire-void", "setnx-expire-void-get-del":
		return true // their pool has no connection left after eight calls, and each call waits for its time limit
	case "deadline-late":
		return true // P75: it is chance for how long an answer is on its way
	}
	return false
}

// onServers are the clauses that each lock is held to on real servers: the one that fewest locks before it were, for in virtual time each is
// held to all. At night it is all of them here too.
func onServers() map[string][]contract.Clause {
	clauses, held := map[string][]contract.Clause{}, map[string]int{}
	for _, spec := range libraries.Catalogue() {
		if byChance(spec.Name) {
			continue
		}
		all := applying(spec)
		if !effort.Nightly() {
			rarest := slices.MinFunc(all, func(a, b contract.Clause) int { return held[a.Name] - held[b.Name] })
			held[rarest.Name]++
			all = []contract.Clause{rarest}
		}
		clauses[spec.Name] = all
	}
	return clauses
}

// applying are the clauses that concern a lock.
func applying(spec locks.Spec) []contract.Clause {
	return slices.DeleteFunc(contract.Clauses(), func(c contract.Clause) bool { return c.Applies != nil && !c.Applies(spec) })
}

// TestEachClauseOnRealServers: each is one that a lock is held to there.
func TestEachClauseOnRealServers(t *testing.T) {
	held := map[string]bool{}
	for _, clauses := range onServers() {
		for _, c := range clauses {
			held[c.Name] = true
		}
	}
	for _, c := range contract.Clauses() {
		if !held[c.Name] {
			t.Errorf("no lock is held to %q", c.Name)
		}
	}
}

// A broken clause that names nothing would be silent.
func TestBrokenClausesExist(t *testing.T) {
	clauses := contract.Clauses()
	for _, spec := range libraries.Catalogue() {
		for name, reason := range spec.Breaks {
			i := slices.IndexFunc(clauses, func(c contract.Clause) bool { return c.Name == name })
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

// timeLimit bounds the calls of one clause, against a server that does not answer.
const timeLimit = time.Minute

// hold checks the clauses: in must make a World, pass it
// on, and take it down. With beside, clauses are checked side by side. A lock that keeps a clause which it must break fails too, for
// then the clause no longer sees the flaw.
func hold(t *testing.T, spec locks.Spec, clauses []contract.Clause, beside bool, in func(t *testing.T, check func(contract.World))) {
	for _, clause := range clauses {
		t.Run(clause.Name, func(t *testing.T) {
			if beside {
				t.Parallel()
			}
			var late error
			for try := range mostLate {
				late = nil
				in(t, func(w contract.World) {
					// Made here, in the bubble of a world in virtual time: t's own is outside.
					ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
					defer cancel()
					err := clause.Longer(min(1<<try, 8)).Check(ctx, spec, w)
					if spec.Breaks[clause.Name] == "" && !w.Virtual() {
						late = err
						return
					}
					judge(t, spec, clause, err, w.Virtual())
				})
				if late == nil {
					return
				}
				t.Logf("%s: %v; again, with longer leases", spec.Name, late)
			}
			t.Errorf("%s: %v", spec.Name, late)
		})
	}
}

// mostLate is how often a lock may break a clause on real servers that it must keep, before that is held against it. On a busy machine a lease
// ends before the next command comes, and a server answers later than a lock of several masters waits for it: each time leases are twice as
// long, up to eight times. In virtual time, where every lock is held to every clause, once is enough.
const mostLate = 8

// judge says whether what a clause found is what it must find.
func judge(t *testing.T, spec locks.Spec, clause contract.Clause, err error, virtual bool) {
	reason := spec.Breaks[clause.Name]
	switch {
	case reason != "" && err == nil && spec.Unseeded != "" && !virtual:
		// On a busy machine the timers of a library decide whether it shows.
		t.Logf("%s kept this clause, by luck: %s", spec.Name, reason)
	case reason != "" && err == nil && clause.Chance && !virtual:
		t.Logf("%s happened to keep this clause, though %s", spec.Name, reason)
	case reason != "" && err == nil:
		t.Errorf("%s kept this clause, and must break it: %s", spec.Name, reason)
	case reason == "" && err != nil:
		t.Errorf("%s: %v", spec.Name, err)
	case err != nil:
		t.Logf("%s broke this clause, as it must: %v", spec.Name, err)
	}
}
