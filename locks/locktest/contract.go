package locktest

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// Clause is one sentence of the contract.
type Clause struct {
	Name string
	// Applies says whether the clause concerns the lock. Nil means every lock.
	Applies func(locks.Spec) bool
	// Broken names the locks that must fail the clause, each with the reason.
	Broken map[string]string
	// Check returns nil if the lock keeps the clause in a fresh world.
	Check func(context.Context, locks.Spec, World) error
}

// Clauses is the whole contract.
func Clauses() []Clause {
	return []Clause{
		{Name: "mutual exclusion", Check: mutualExclusion},
		{Name: "refusal", Check: refusal},
		{Name: "expiry", Check: expiry},
		{Name: "foreign release is refused", Check: foreignRelease, Broken: map[string]string{
			"setnx-expire": "P07: DEL takes the lock from its next holder",
			"setnx-px-del": "P07: DEL takes the lock from its next holder",
		}},
		{Name: "second release is refused", Check: secondRelease},
		{Name: "cancelled context", Check: cancelledContext},
		{Name: "deadline is not after expiry", Check: deadline},
		{Name: "verify", Check: verify, Applies: func(s locks.Spec) bool { return s.HasToken }},
		{Name: "tokens increase", Check: tokensIncrease, Applies: func(s locks.Spec) bool { return s.Fencing }},
		{Name: "no token", Check: noToken, Applies: func(s locks.Spec) bool { return !s.Fencing }},
		{Name: "bad input", Check: badInput},
	}
}

// timeLimit bounds the calls of one clause, against a server that does not answer.
const timeLimit = time.Minute

// Contract checks every clause that applies to spec, each in a world of its own: in
// must make one, pass it on, and take it down. A lock that keeps a clause it must
// break fails too, for then the clause no longer sees the flaw.
func Contract(t *testing.T, spec locks.Spec, in func(t *testing.T, check func(World))) {
	for _, clause := range Clauses() {
		if clause.Applies != nil && !clause.Applies(spec) {
			continue
		}
		t.Run(clause.Name, func(t *testing.T) {
			in(t, func(w World) {
				// Made here, in the bubble of a world in virtual time: t's own is outside.
				ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
				defer cancel()
				err := clause.Check(ctx, spec, w)
				reason, broken := clause.Broken[spec.Name]
				switch {
				case broken && err == nil:
					t.Errorf("%s kept this clause, and must break it: %s", spec.Name, reason)
				case !broken && err != nil:
					t.Errorf("%s: %v", spec.Name, err)
				case broken:
					t.Logf("%s broke this clause, as it must: %v", spec.Name, err)
				}
			})
		})
	}
}
