// Package scenarios is the catalogue: every pitfall as a schedule, in a file of its own, with
// the exact steps that break a lock, and what each judge is expected to say of the broken lock
// and of the twins that survive the same steps.
package scenarios

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// Scenario is one pitfall. The pitfalls are numbered P01 and up; a number is for life.
type Scenario struct {
	ID     string // P14
	Name   string // failover-async-repl
	Title  string // one line
	Source string // articles A to E, R the Redis documentation, K Kleppmann 2016
	Why    string // why the broken lock breaks, for people

	Replicas int // of the lock's first master
	// ClusterMode says that the lock's server is a node of a Redis Cluster.
	ClusterMode bool
	Clocks      bool // the script sets the clocks of servers
	// Threads is how many clients, from A on, are threads of one process, and so share its
	// connections; 0: each client is a process of its own.
	Threads   int
	Keys      int  // that the script names; 0 means 1
	Faultless bool // the script needs no fault: the lock breaks, or holds, in fair weather
	// Needs is what the steps need of a lock, so that they can be played with it.
	Needs Need
	// Asks is what the steps ask of a lock that not every lock of its class promises. Empty: they
	// ask for no more than all do.
	Asks locks.Promise
	// Overtaking is how often a client that waits may be overtaken by each other one; 0: the
	// scenario asks for no fairness.
	Overtaking int
	Script     player.Script
	// InProcess is why the clients must live in lockbench's own process; empty: they need not.
	InProcess string
	// Gaps are the backends that cannot play the script, and why: what they cannot do is
	// listed and not counted as passed.
	Gaps map[string]string
	// TTL is the lease in virtual time. RealTTL is used on real servers, where the
	// script may have to wait for a lease to end.
	TTL, RealTTL time.Duration

	// Cases are the broken lock first, and then its twins.
	Cases []Case
	// Remedies are what the servers can be given against the pitfall; see With.
	Remedies []Remedy
	// Holds says that no lock of the catalogue breaks under the steps: the scenario shows
	// that they hold. Its first case is the lock that is most in danger.
	Holds bool

	Text string // the schedule as it was written; empty: it was not

	remedy string // see With
}

// Case is a lock and a guard, and what is expected of them under the steps.
type Case struct {
	Lock  string
	Guard resource.Guard
	// Remedy names that of the scenario's remedies which is in place. Empty: none.
	Remedy string
	Want   checker.Expectation
	// Note says what a survivor shows. Empty: nothing needs to be said.
	Note string
}

// Broken is the lock that the scenario is about.
func (s Scenario) Broken() Case { return s.Cases[0] }

// Survivors are the cases that keep, under the same steps, something that the broken
// lock does not.
func (s Scenario) Survivors() []Case {
	return slices.DeleteFunc(slices.Clone(s.Cases), func(c Case) bool { return !s.Saves(c) })
}

// String is the case's lock, and its guard and remedy if it has them.
func (c Case) String() string {
	s := c.Lock
	if c.Guard != resource.None {
		s += " with guard " + c.Guard.String()
	}
	if c.Remedy != "" {
		s += " under " + c.Remedy
	}
	return s
}

// Case returns what is expected of a lock under a guard. Of a lock that it does not name
// the catalogue expects that every property holds, because that is what its user asks,
// except for what no survivor keeps either.
func (s Scenario) Case(lock string, guard resource.Guard) Case {
	if i := s.find(lock, guard); i >= 0 {
		return s.Cases[i]
	}
	return Case{Lock: lock, Guard: guard, Remedy: s.remedy, Want: s.unwinnable()}
}

// Names reports whether the catalogue says something of a lock under a guard.
func (s Scenario) Names(lock string, guard resource.Guard) bool { return s.find(lock, guard) >= 0 }

func (s Scenario) find(lock string, guard resource.Guard) int {
	return slices.IndexFunc(s.Cases, func(c Case) bool { return c.Lock == lock && c.Guard == guard && c.Remedy == s.remedy })
}

// unwinnable wants nothing of the properties that all survivors break.
func (s Scenario) unwinnable() checker.Expectation {
	want := checker.Expectation{}
	for p, v := range s.Broken().Want {
		if v == checker.Fail && !slices.ContainsFunc(s.Survivors(), func(c Case) bool { return c.Want[p] != checker.Fail }) {
			want[p] = checker.NotApplicable
		}
	}
	return want
}

// Saves reports whether the case keeps something that the broken lock does not.
func (s Scenario) Saves(c Case) bool {
	for p, v := range s.Broken().Want {
		if v == checker.Fail && c.Want[p] != checker.Fail {
			return true
		}
	}
	return false
}

// Find returns the scenario with that name or number, or a *catalogue.UnknownError that
// names the nearest.
func Find(name string) (Scenario, error) {
	all := All()
	if i := slices.IndexFunc(all, func(s Scenario) bool { return s.ID == name }); i >= 0 {
		return all[i], nil
	}
	return catalogue.Find("scenario", name, all, func(s Scenario) string { return s.Name })
}
