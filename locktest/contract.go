package locktest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/contract"
)

// contractName is the subtest of the contract.
const contractName = "contract"

// patience bounds the calls of one clause.
const patience = time.Minute

// isClause reports whether a name is that of a clause, as subtests have it.
func isClause(name string) bool {
	clause, ok := strings.CutPrefix(name, contractName+"/")
	return ok && slices.ContainsFunc(contract.Clauses(), func(c contract.Clause) bool { return asName(c) == clause })
}

// asName is a clause as a subtest is called.
func asName(c contract.Clause) string { return nameOf(c.Name) }

func nameOf(clause string) string { return strings.ReplaceAll(clause, " ", "_") }

// contract holds the lock to each clause that concerns it.
func (r *test) contract(t *testing.T) {
	t.Helper()
	if r.backend.UsersOwn {
		t.Skip(optional + "the contract looks at the servers themselves, and is not played on servers of the user's own")
	}
	for _, c := range contract.Clauses() {
		if c.Applies != nil && !c.Applies(r.spec) || c.House && !r.known || c.Twice && !r.known && !r.spec.Promises.ReleasesTwice {
			continue
		}
		t.Run(asName(c), func(t *testing.T) {
			t.Helper()
			r.clause(t, c)
		})
	}
}

func (r *test) clause(t *testing.T, c contract.Clause) {
	t.Helper()
	var broke error
	left, played := r.deployed(func(w *contract.Deployment) {
		ctx, cancel := context.WithTimeout(context.Background(), patience) // of the bubble: that of t is outside
		defer cancel()
		broke = c.Check(ctx, r.spec, w)
	})
	r.leftovers(t, left)
	broke = errors.Join(broke, played)
	reason, accepted := r.acceptedAs(contractName + "/" + asName(c))
	switch {
	case accepted && broke == nil:
		t.Errorf("the clause %q is accepted (%s), and nothing is found there any more: take its Accept away", c.Name, reason)
	case accepted:
		t.Logf("accepted, %s: %v", reason, broke)
	case broke != nil:
		t.Errorf("%v\nbreaks the clause of the contract %q\nreplay: %s", broke, c.Name, command(t))
	}
}
