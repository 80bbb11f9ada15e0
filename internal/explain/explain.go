// Package explain finds out what a lock server must have done wrong, at the least, to answer a few calls
// on one key as it did.
//
// A search tries every order of the calls that keeps real time, and every answer to each question that the
// order leaves open: whether a lease was over, whom a wrong release met. For each order it keeps the earliest
// instant at which each call can have taken effect; what is learned of one moves others on, and an order in
// which one is moved beyond its answer is dropped. docs/certificates.md has the definitions, of which package
// certificate has a search of its own, by another method, that shares no code with this one.
package explain

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Bounds of what Rule takes.
const (
	MostCalls = 8
	MostTime  = 365 * 24 * time.Hour // between two invocations
)

// A Call is one on the lock of a key: an acquire, a release, an extend or a count.
type Call struct {
	F        histories.F
	Worker   int
	Attempt  uint64         // 0: of none
	Mode     histories.Mode // of its acquire
	Outcome  histories.Type // OK, Fail or, of a call that may have had its effect at any time since, Info
	Invoked  histories.Instant
	Returned histories.Instant // zero if there was no answer
	TTL      time.Duration     // that it asks for; 0 or less: none
	Token    int64             // 0: none
	Told     time.Duration     // deadline; 0: none
	Count    int
}

// early reports whether c was told a deadline before its lease is certainly over: what that means is left open.
func (c Call) early() bool {
	return c.Told > 0 && (c.TTL <= 0 || c.Told < c.Invoked.Time+c.TTL-drift(c.TTL))
}

// A Ruling is what may be said of a promise.
type Ruling uint8

// The rulings. The zero value says nothing.
const (
	Open   Ruling = iota // the definitions leave it open
	Kept                 // one of the explanations with the fewest wrongs keeps it
	Broken               // none does
)

// Rulings are what is said of calls: whether the lock was granted to nobody while it was owed to another, and
// what else one server promises.
type Rulings struct{ Leases, Ownership, Truth, Reentry, Fencing Ruling }

// A Searcher rules on calls. The zero value is ready; it keeps room for the next calls.
type Searcher struct{ s search }

// Rule rules on calls in order of invocations, MostCalls at most. Each release and extend has its acquire among them. The server
// may let a key go as late as that after its lease.
func (r *Searcher) Rule(calls []Call, late time.Duration) Rulings {
	r.s.prepare(calls)
	r.s.late = min(late, forever)
	all := Rulings{Kept, Kept, Kept, Kept, Kept} // by a server that does nothing wrong: it owes nothing, either
	if r.s.run((*search).answer, reading{}).fewest > 0 {
		all = r.s.promises(r.s.leases())
	}
	if !slices.ContainsFunc(calls, func(c Call) bool { return c.F == histories.Acquire && c.TTL > 0 }) {
		all.Leases = Open // nothing is owed for a time
	}
	if slices.ContainsFunc(calls, Call.early) {
		all = Rulings{Leases: all.Leases}
	}
	if slices.ContainsFunc(calls, func(c Call) bool { return c.Mode == histories.Shared && c.Token > 0 }) {
		all.Fencing = Open // readers may share a token
	}
	return all
}

// promises rules on what one server promises. If leases are broken that is for them to tell: a grant beside another's lease may be assumed.
func (s *search) promises(leases Ruling) Rulings {
	for budget := range int8(mostWrongs + 1) {
		narrow := s.run((*search).answer, reading{beside: leases == Broken, budget: budget})
		wide := s.run((*search).answer, reading{wide: true, beside: true, budget: budget})
		switch {
		case wide.fewest < budget, narrow.fewest == none && wide.fewest != none:
			return Rulings{Leases: leases}
		case narrow.fewest != none:
			return Rulings{leases, narrow.rule(wide, 0), narrow.rule(wide, 1), narrow.rule(wide, 2), narrow.rule(wide, 3)}
		}
	}
	return Rulings{Leases: leases}
}

// leases rules on what was owed.
func (s *search) leases() Ruling {
	acts := slices.Clone(s.acts)
	defer func() { s.acts = acts }()
	s.owing()
	switch {
	case s.run((*search).owe, reading{}).fewest != none:
		return Kept
	case s.run((*search).owe, reading{wide: true}).fewest != none:
		return Open
	}
	return Broken
}

// mostWrongs is how many wrongs of a server are assumed at most.
const mostWrongs = 3
