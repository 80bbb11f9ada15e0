// Package contract is what every lock must do while nothing goes wrong, and at the end of a lease: one clause after another,
// against servers in virtual time and against real ones.
package contract

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// Clause is one sentence of the contract.
type Clause struct {
	Name string
	// Applies reports whether the clause concerns the lock. Nil means every lock.
	Applies func(locks.Spec) bool
	// Chance says that whether a flaw shows depends on who meets whom. Real servers may
	// show one that is in the table, or not; virtual time decides by its seed.
	Chance bool
	// House says that the clause is about how locks of package locks are written, and no matter of
	// whoever uses one.
	House bool
	// Twice says that the clause releases a lease twice, which not everybody may do (locks.Promises).
	Twice bool
	check func(*scene) error
	times int // as long are leases that are waited for; 0 means 1
}

// Longer returns the clause with leases that last times as long, where they are waited for: on a busy machine
// one of the usual length may end before the next command comes.
func (c Clause) Longer(times int) Clause {
	c.times = times
	return c
}

// Check returns nil if the lock keeps the clause. It leaves nothing running.
func (c Clause) Check(ctx context.Context, spec locks.Spec, w World) error {
	s := newScene(ctx, spec, w)
	s.ttl *= time.Duration(max(c.times, 1))
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
	releasesRefused := func(s locks.Spec) bool { return s.Promises.ReleasesRefused }
	return []Clause{
		{Name: "mutual exclusion", check: mutualExclusion, Chance: true},
		{Name: "refusal", check: refusal},
		{Name: "expiry", check: expiry},
		{Name: "foreign release is refused", check: foreignRelease},
		{Name: "second release is refused", check: secondRelease, Twice: true},
		{Name: "a refused client's release changes nothing", check: refusedRelease, Applies: releasesRefused},
		{Name: "cancelled context", check: cancelledContext},
		{Name: "interrupted acquire leaves nothing", check: interruptedAcquire},
		{Name: "deadline is not after expiry", check: deadline},
		{Name: "verify", check: verify, Applies: hasToken},
		{Name: "tokens increase", check: tokensIncrease, Applies: fences},
		{Name: "no token", check: noToken, Applies: not(fences)},
		{Name: "bad input", check: badInput, House: true},
		{Name: "capabilities are as promised", check: capabilities, House: true},
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
