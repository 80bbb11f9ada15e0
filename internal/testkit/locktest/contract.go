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
	// Chance says that whether a flaw shows depends on who meets whom. Real servers may
	// show one that is in the table, or not; virtual time decides by its seed.
	Chance bool
	check  func(*scene) error
}

// Check returns nil if the lock keeps the clause. It leaves nothing running.
func (c Clause) Check(ctx context.Context, spec locks.Spec, w World) error {
	s := newScene(ctx, spec, w)
	defer s.end()
	return c.check(s)
}

// Clauses is the whole contract.
func Clauses() []Clause {
	not := func(applies func(locks.Spec) bool) func(locks.Spec) bool {
		return func(s locks.Spec) bool { return !applies(s) }
	}
	hasToken := func(s locks.Spec) bool { return s.HasToken }
	fences := func(s locks.Spec) bool { return s.Fencing }
	extends := func(s locks.Spec) bool { return s.Extends }
	renews := func(s locks.Spec) bool { return s.Renews }
	reenters := func(s locks.Spec) bool { return s.Reenters }
	shares := func(s locks.Spec) bool { return s.ReadWrite }
	return []Clause{
		{Name: "mutual exclusion", check: mutualExclusion, Chance: true},
		{Name: "refusal", check: refusal},
		{Name: "expiry", check: expiry},
		{Name: "foreign release is refused", check: foreignRelease},
		{Name: "second release is refused", check: secondRelease},
		{Name: "cancelled context", check: cancelledContext},
		{Name: "interrupted acquire leaves nothing", check: interruptedAcquire},
		{Name: "deadline is not after expiry", check: deadline},
		{Name: "verify", check: verify, Applies: hasToken},
		{Name: "tokens increase", check: tokensIncrease, Applies: fences},
		{Name: "no token", check: noToken, Applies: not(fences)},
		{Name: "bad input", check: badInput},
		{Name: "capabilities are as promised", check: capabilities},
		{Name: "re-entry", check: reentry, Applies: reenters},
		{Name: "no re-entry", check: noReentry, Applies: not(reenters)},
		{Name: "readers and writers", check: readersAndWriters, Applies: shares},
		{Name: "a reader's release keeps the others", check: readerRelease, Applies: shares},
		{Name: "a reader's expiry frees the writer", check: readerExpiry, Applies: shares},
		{Name: "a reader's expiry keeps the others", check: readerExpiryKeepsOthers, Applies: shares},
		{Name: "extend", check: extend, Applies: extends},
		{Name: "extend after expiry is refused", check: extendAfterExpiry, Applies: extends},
		{Name: "renewal", check: renewal, Applies: renews},
		{Name: "renewal ends with release", check: renewalEnds, Applies: renews},
		{Name: "loss is told in time", check: lossIsTold, Applies: renews},
	}
}

// timeLimit bounds the calls of one clause, against a server that does not answer.
const timeLimit = time.Minute

// Contract checks every clause that applies to spec: in must make a World, pass it
// on, and take it down. A lock that keeps a clause which it must break fails too, for
// then the clause no longer sees the flaw.
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
				reason := spec.Breaks[clause.Name]
				switch {
				case reason != "" && err == nil && spec.Unseeded != "" && !w.Virtual():
					// On a busy machine the timers of a library decide whether it shows.
					t.Logf("%s kept this clause, by luck: %s", spec.Name, reason)
				case reason != "" && err == nil && clause.Chance && !w.Virtual():
					t.Logf("%s happened to keep this clause, though %s", spec.Name, reason)
				case reason != "" && err == nil:
					t.Errorf("%s kept this clause, and must break it: %s", spec.Name, reason)
				case reason == "" && err != nil:
					t.Errorf("%s: %v", spec.Name, err)
				case err != nil:
					t.Logf("%s broke this clause, as it must: %v", spec.Name, err)
				}
			})
		})
	}
}
