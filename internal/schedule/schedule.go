// Package schedule is what is played, as a value: who does what in which order, which commands
// are held up on the way, and which faults begin and end. It has a text form that people read
// and write; docs/schedule.md has its grammar. A schedule says after what something happens
// and never at which time, so that it means the same on every backend.
package schedule

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Version is that of the text form, which stands in its first line.
const Version = 1

// Schedule is one play: its deployment, its steps, and what is expected of locks under them.
type Schedule struct {
	ID     string // number in the catalogue, such as P14; empty: it is not in it
	Name   string // such as failover-async-repl
	Title  string // one line
	Source string // where it is described
	Why    string // why the lock breaks, for people

	Lock    string // that it is played with; empty: that of the first expectation
	Guard   string // of the sections; empty: none
	Clients int    // they are called A, B, C, ...
	// Threads is how many clients, from A on, are threads of one process; 0: each client is a
	// process of its own.
	Threads  int
	Keys     int // that the steps name; 0 means 1
	Replicas int // of the lock's first master
	// ClusterMode says that the lock's server is a node of a Redis Cluster.
	ClusterMode bool
	Clocks      bool // the steps set the clocks of servers
	// TTL is the lease in virtual time, and RealTTL that on real servers. 0 of RealTTL means TTL.
	TTL, RealTTL time.Duration
	Seed         uint64 // 0 means 1

	Waits     bool   // clients wait for the lock as its source does
	Queues    bool   // clients wait in a queue and count on its order
	Overtaken int    // how often a client that waits may be overtaken by each other one; 0: no matter
	Needs     string // what the steps need of a lock, such as readers-and-writers; empty: no more than the steps say
	Asks      string // a promise that not every lock makes, such as counts-once; empty: none is needed
	Faultless bool   // there is no fault: the lock breaks, or holds, in fair weather
	Holds     bool   // no lock breaks under the steps
	// InProcess is why the clients must live in lockbench's own process; empty: they need not.
	InProcess string
	Gaps      []Gap

	Steps    []Step
	Remedies []Remedy
	Expect   []Expect
}

// Gap is a backend that cannot play the steps, and why.
type Gap struct{ Backend, Why string }

// Remedy is what the servers can be given against the pitfall, and the steps with it.
type Remedy struct {
	Name, Title string
	Gaps        []Gap
	Steps       []Step
}

// Expect is what is expected of a lock under the steps. Of the properties that it does not name
// it says that they hold.
type Expect struct {
	Lock, Guard, Remedy string // empty: the schedule's lock, no guard, no remedy
	Fail, Unknown       []string
	Note                string // what the case shows, for people
}

// Step is one step. The zero value is none.
type Step struct {
	// Who acts, or whom it is about, by name.
	Who  []string
	Verb Verb
	// What is the mode of an acquire, the fault that starts or stops, the condition that is waited
	// for, what a command does that a rule is about, or the setting that is set.
	What string
	// On are servers of the lock: numbers from 1 on, All, or Register. Empty: the first.
	On      []string
	Replica int // of the first master, from 1 on; 0: the first
	Reply   bool
	Action  Action // what a rule does

	For      *Span   // for how long a lease is asked for, or something lasts
	Within   *Span   // for how long it is tried or waited
	By       *Span   // how much a fault moves or delays something
	GivingUp *Span   // after how long an acquire gives up
	Times    float64 // how many times as fast as it should a clock runs; 0: it is not said
	Key      int     // from 1 on; 0: the first
	Tries    int     // that are made at most, until it is granted
	Retries  int     // that are made at most while nothing is known
	N        int     // how often, or which round of a lottery, or the value of a setting

	Eventually bool // it is tried for as long as a free lock may take
	Again      bool // what was released is released again
	Refused    bool // what was refused last is released, or extended
	OrLeave    bool // who is refused walks away
	Free       bool // its end is not waited for

	// Op is the operation of the client that a rule or a wait is about, from 1 on: the n-th call that its steps
	// make. 0: any, and the one that it is in.
	Op    int
	Nth   int  // of a rule: the n-th command that fits; 0: the first
	After *Ref // the step begins when that operation has ended
	// Lane are the calls, and sleeps between them, that a client makes by itself from here on: the steps below do
	// not wait for it. They have its name.
	Lane []Step
}

// Ref is an operation of a client: its n-th call, from 1 on.
type Ref struct {
	Who string
	Op  int
}

// String returns the operation as it is written: B.2.
func (r Ref) String() string { return r.Who + "." + strconv.Itoa(r.Op) }

// Verb is what is done.
type Verb string

// Action is what a rule does to the command or the reply that it meets.
type Action string

// The actions.
const (
	Hold  Action = "hold"  // it waits until it is let go
	Lose  Action = "lose"  // the reply gets lost, and the connection with it
	Twice Action = "twice" // the reply gets lost, and the command is sent again
)

// Names of servers that are no numbers.
const (
	All      = "all"
	Register = "register"
)

// Names returns the names of the clients.
func (s Schedule) Names() []string {
	names := make([]string, s.Clients)
	for i := range names {
		names[i] = histories.WorkerName(i)
	}
	return names
}

// Has reports whether a step of that sort is among the steps.
func (s Schedule) Has(is func(Step) bool) bool {
	return slices.ContainsFunc(s.Steps, func(p Step) bool { return is(p) || slices.ContainsFunc(p.Lane, is) })
}

// Reenters reports whether clients re-enter the lock.
func (s Schedule) Reenters() bool {
	return s.Has(func(p Step) bool {
		return p.Verb == Reenter || p.Verb == UseAgain || p.Verb == Acquire && p.What == Reentrant
	})
}

// Extends reports whether clients extend their leases.
func (s Schedule) Extends() bool { return s.Has(func(p Step) bool { return p.Verb == Extend }) }

// ReleasesTwice reports whether clients release what they have released.
func (s Schedule) ReleasesTwice() bool {
	return s.Has(func(p Step) bool { return p.Verb == Release && p.Again })
}

// Verifies reports whether clients ask the lock whether they still hold it.
func (s Schedule) Verifies() bool { return s.Has(func(p Step) bool { return p.Verb == Verify }) }

// ReleasesRefused reports whether clients release, or extend, what they were refused.
func (s Schedule) ReleasesRefused() bool {
	return s.Has(func(p Step) bool { return p.Refused })
}

// WithoutTTL reports whether clients acquire the lock without saying for how long.
func (s Schedule) WithoutTTL() bool {
	return s.Has(func(p Step) bool { return p.Verb == Acquire && p.What == WithoutTTL })
}

// GivesUp reports whether clients give up calls in the midst of them.
func (s Schedule) GivesUp() bool { return s.Has(func(p Step) bool { return p.GivingUp != nil }) }
