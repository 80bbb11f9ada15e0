// Package gate plays the catalogue and says whether every lock came out as expected: a broken
// lock that is no longer caught fails the gate as surely as a sound lock that is accused, and
// what is unknown passes nowhere.
//
// [NewPlan] lists the runs, [Plan.Play] plays them, and [Results] is what they showed: it can
// be written to a file, merged from shards, compared with a baseline, and drawn as text,
// Markdown and JUnit. [Matrix] and [Record] are drawn from the same runs.
package gate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// Options say what to run.
type Options struct {
	Backend harness.Backend // optional: harness.Embedded
	Only    []string        // optional: numbers or names of scenarios, or patterns such as redlock-*
	Seed    uint64          // of the first run of each case
	Runs    int             // of each case, with seeds counting up; optional: 1
	Shard   Shard           // optional: the whole plan
	// FailOn are the properties that decide. Optional: all do.
	FailOn []checker.Property
	// Subject is the user's own lock, which goes through every scenario in place of the
	// catalogue's. Optional.
	Subject *Subject
	// Again are the runs to play: those of an earlier gate, with the seeds that they had. Optional: each case with Runs seeds from Seed on.
	Again *Again
	// Exploring is for how long schedules that nobody wrote are looked for besides, for the record: others do that.
	Exploring time.Duration
	Version   string    // of lockbench
	Log       io.Writer // optional: what backends warn of

	// Catalogue is what is played. Optional: scenarios.All().
	Catalogue []scenarios.Scenario
	// Locks are those that the catalogue names, and by which a user's lock is measured. Optional:
	// libraries.Catalogue.
	Locks locks.Catalogue
	// Run plays one run. Optional: harness.Run.
	Run func(context.Context, harness.Config) (harness.Result, error)
	// Command is how to repeat a run by hand, with leases of a ttl, or if that is 0 with those of the scenario. Optional: nobody is told.
	Command func(cfg harness.Config, remedy string, ttl time.Duration) string
}

// Subject is a lock that the catalogue does not expect anything in particular of: what another
// lock of its class keeps under the steps of a scenario, it must keep.
type Subject struct {
	Lock locks.Spec // with a worker, what the worker promises
	// Guard is that of every section. Nil: the one that each scenario is about.
	Guard  *resource.Guard
	Worker []string // optional: the command of a process that each client runs in
}

func (o Options) withDefaults() Options {
	if o.Backend.Name == "" {
		o.Backend = harness.Embedded()
	}
	if o.Runs == 0 {
		o.Runs = 1
	}
	if o.Shard == (Shard{}) {
		o.Shard = Shard{1, 1}
	}
	if o.Catalogue == nil {
		o.Catalogue = scenarios.All()
	}
	if o.Locks == nil {
		o.Locks = libraries.Catalogue()
	}
	if o.Run == nil {
		o.Run = harness.Run
	}
	if o.Command == nil {
		o.Command = func(harness.Config, string, time.Duration) string { return "" }
	}
	return o
}

// Outcome is what became of one run, or of all of them together.
type Outcome string

// The outcomes.
const (
	Expected      Outcome = "expected"
	Unexpected    Outcome = "unexpected"
	Unknown       Outcome = "unknown"
	Failed        Outcome = "error"          // of the harness, or of what it needs
	Unavoidable   Outcome = "unavoidable"    // no lock of the class keeps what broke
	NotApplicable Outcome = "not-applicable" // the scenario has nothing to say of the lock
)

// worse orders outcomes from what is worst for the gate.
func worse(a, b Outcome) Outcome {
	for _, o := range []Outcome{Failed, Unexpected, Unknown, Unavoidable, Expected} {
		if a == o || b == o {
			return o
		}
	}
	return NotApplicable
}

// Role is what a case of a scenario is there to show.
type Role string

// The roles.
const (
	Broken     Role = "broken" // the lock that the scenario is about
	AlsoBroken Role = "too"    // another lock that breaks as it does
	Twin       Role = "twin"   // a lock that survives the same steps
	Own        Role = "own"    // the user's own
)

// Row is one run and what came of it.
type Row struct {
	At       int       `json:"at"` // in the plan of all shards
	ID       string    `json:"id"`
	Scenario string    `json:"scenario"`
	Role     Role      `json:"role"`
	Lock     string    `json:"lock"`
	Guard    string    `json:"guard"`
	Remedy   string    `json:"remedy,omitempty"` // that is in place
	Seed     uint64    `json:"seed"`
	Outcome  Outcome   `json:"outcome"`
	Reason   string    `json:"reason,omitempty"` // of an error, or why it does not apply
	Judged   []Finding `json:"judged,omitempty"`
	// Causes are why properties failed, derived from the record of the run; of the user's own
	// lock alone.
	Causes []checker.Cause `json:"causes,omitempty"`
	// References are the locks of the same class that were played under the same steps.
	References []string `json:"references,omitempty"`
	// Survivors are the cases that keep what no lock of the class does.
	Survivors []Survivor `json:"survivors,omitempty"`
	Command   string     `json:"command,omitempty"`
	// Took is real time.
	Took time.Duration `json:"took"`

	Server string `json:"-"` // name and version of the servers of the run; empty: it is not known
}

// Finding is what was wanted of a property, what was found, and if that differs, why.
type Finding struct {
	checker.Judged
	Story string `json:"story,omitempty"`
	// KeptBy are the references that keep it, so that it is the lock's own fault.
	KeptBy []string `json:"kept_by,omitempty"`
	// Unavoidable says that no lock of the class keeps it, so that it decides nothing.
	Unavoidable bool `json:"unavoidable,omitempty"`
}

// Gap is a scenario, or one case of it, that was not played.
type Gap struct {
	ID       string `json:"id"`
	Scenario string `json:"scenario"`
	Lock     string `json:"lock,omitempty"` // empty: no lock
	Guard    string `json:"guard,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
	Reason   string `json:"reason"`
	// NotApplicable says that the scenario has nothing to say of the lock. Otherwise the
	// backend is what cannot play it.
	NotApplicable bool `json:"not_applicable,omitempty"`
}

// key is what no two rows have in common.
func (r Row) key() string {
	return fmt.Sprintf("%s, %s, seed %d", r.Scenario, r.who(), r.Seed)
}

// who is a lock, and its guard and remedy if it has them.
func who(lock, guard, remedy string) string {
	if guard != resource.None.String() && guard != "" {
		lock += " with guard " + guard
	}
	if remedy != "" {
		lock += " under " + remedy
	}
	return lock
}

func (r Row) who() string { return who(r.Lock, r.Guard, r.Remedy) }
func (g Gap) who() string { return who(g.Lock, g.Guard, g.Remedy) }

// Violated are the properties that the run saw violated.
func (r Row) Violated() []checker.Property {
	var all []checker.Property
	for _, f := range r.Judged {
		if f.Got == checker.Fail {
			all = append(all, f.Property)
		}
	}
	return all
}

// Findings are what came out otherwise than was wanted, save what is unavoidable.
func (r Row) Findings() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Judged), func(f Finding) bool { return f.Met || f.Unavoidable })
}

// Unavoidable is what broke and no lock of the class keeps.
func (r Row) Unavoidable() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Judged), func(f Finding) bool { return !f.Unavoidable })
}
