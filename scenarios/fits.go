package scenarios

import (
	"fmt"

	"github.com/lockbench/lockbench/locks"
)

// A Need is what the steps of a scenario need of a lock beyond what the Script says of them, in
// words that fit after "its steps need". The empty Need is one that every lock meets.
type Need string

// The needs.
const (
	ReadersAndWriters  Need = "a lock that has readers and writers"
	FencingTokens      Need = "a lock that issues fencing tokens"
	IndependentMasters Need = "a lock on 5 independent masters"
)

// mostMasters is how many masters IndependentMasters means.
const mostMasters = 5

// needs are the words for them in schedules.
func needs() map[string]Need {
	return map[string]Need{
		"": "", "readers-and-writers": ReadersAndWriters, "fencing-tokens": FencingTokens, "independent-masters": IndependentMasters,
	}
}

// promises are the words for those that steps may ask for.
func promises() map[string]locks.Promise {
	return map[string]locks.Promise{
		"": "", "counts-once": locks.CountsOnce, "never-shortens": locks.NeverShortens, "bounded-hold": locks.BoundedHold,
		"default-ends": locks.DefaultEnds,
	}
}

// metBy reports whether a lock has what is needed.
func (n Need) metBy(lock locks.Spec) bool {
	switch n {
	case ReadersAndWriters:
		return lock.ReadWrite
	case FencingTokens:
		return lock.Fencing
	case IndependentMasters:
		return lock.Masters >= mostMasters
	}
	return n == ""
}

// Unfit says why the scenario has nothing to say of a lock; empty: it has.
func (s Scenario) Unfit(lock locks.Spec) string {
	if err := s.Script.Unsupported(lock); err != nil {
		return err.Error()
	}
	switch {
	case s.Threads > 0 && !lock.Promises.Threads:
		return "its clients are threads of one process, and the lock does not say that several may use it"
	case s.ClusterMode && lock.Database != 0:
		return fmt.Sprintf("a Redis Cluster has no other database than 0, and the lock is kept in database %d", lock.Database)
	case !s.Needs.metBy(lock):
		return "its steps need " + string(s.Needs)
	case !lock.Keeps(s.Asks):
		return fmt.Sprintf("the lock does not promise that %s", s.Asks)
	}
	return ""
}
