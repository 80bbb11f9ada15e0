package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Options says what the run intended and how much effort its judgement may cost.
// The zero value is usable.
type Options struct {
	// Properties are those to judge; nil means all. Of the others the report says nothing.
	Properties []Property
	// Gaps are the indexes before which events are missing from the history, in order; the
	// number of all events means that its end is missing. From the first of them on it may break the rules of histories.Validate: a call of which one
	// half is missing counts as one of unknown outcome, or not at all. The report on such a
	// history must be read WithGaps.
	Gaps []int
	// FaultsExpected says that the run planned faults. If all of them missed the
	// lock, the run is vacuous.
	FaultsExpected bool
	// Slack is added to the TTL before a waiting client counts as starved. 0 or
	// less means DefaultSlack.
	Slack time.Duration
	// Tolerance is by how much longer than its TTL a key may live, as the lock says of itself.
	// It counts as slack does.
	Tolerance time.Duration
	// Poll is the shortest interval between two tries of one waiting client, as the lock says
	// of itself; see judgeLoad. 0 or less: it says nothing.
	Poll time.Duration
	// SilentRelease says that a release that succeeds does not say whose lock it was: its "done"
	// means no more than that the caller holds nothing now.
	SilentRelease bool
	// Commands are what crossed the wire, as a witness. Nil: nothing is known of it.
	Commands *Commands
	// Budget bounds each call of the porcupine engine in real time. A call that
	// runs out of it leaves its property Unknown. 0 or less means DefaultBudget.
	Budget time.Duration
	// ClientFaults names the faults that only stop, cut or delay clients. Every
	// other fault may make a lock server forget or split a hold, and ownership is
	// then not judged by what vanished. Nil means the faults named "hold" and "pause".
	ClientFaults []histories.F
	// Masters is how many independent masters the lock has: it must be had while fewer than
	// half of them are at fault. 0 means 1.
	Masters int
	// Threads is how many clients, from the first on, are threads of one process: what touches one of them may touch them all. 0:
	// each is a process of its own.
	Threads int
	// Overtaking is how often a waiting client may be overtaken by each other client under a
	// lock that promises fairness. 0 or less: the lock promises none, and fairness is told
	// and not judged.
	Overtaking int
	// Thorough asks both engines about each part of a long history of a key. Else the porcupine
	// engine is asked about the first part of it, about each in which the interval engine finds an
	// overlap, and of the others about one in sampled, by Seed.
	Thorough bool
	Seed     uint64
	// Now is a monotonic clock for Result.Took. Nil leaves Took at 0.
	Now func() time.Duration

	excerpt bool // calls were left out, so that a resource cannot be called broken because it shows what they did
	rules   bool // alone decide, of small keys too
	roomy   int  // how many calls of all keys are not too many; 0 means roomy
	spared  int  // how many calls of a key are not worth a cut; 0 means spared
}

// Defaults of Options.
const (
	DefaultSlack  = 500 * time.Millisecond
	DefaultBudget = 30 * time.Second

	sampled = 1000 // parts of which one is judged by both engines
)

// Leeway is by how much later than its TTL the judges expect a key to be gone.
func (o Options) Leeway() time.Duration { return o.slack() }

// FaultsOfClients are ClientFaults, or what nil means.
func (o Options) FaultsOfClients() []histories.F { return o.clientFaults() }

func (o Options) slack() time.Duration {
	slack := o.Slack
	if slack <= 0 {
		slack = DefaultSlack
	}
	return slack + max(o.Tolerance, 0)
}

func (o Options) budget() time.Duration {
	if o.Budget <= 0 {
		return DefaultBudget
	}
	return o.Budget
}

func (o Options) clientFaults() []histories.F {
	if o.ClientFaults == nil {
		return []histories.F{"hold", "pause"}
	}
	return o.ClientFaults
}

func (o Options) now() time.Duration {
	if o.Now == nil {
		return 0
	}
	return o.Now()
}

// A judge judges one property. It observes the stretches of a history one by one. An error means that
// the harness or the checker is wrong; the property is then Unknown, or, if the error is a
// *disagreement, that.
type judge interface {
	observe(context.Context, *stretch) error
	// verdict completes a finding by what was observed: the verdict, its witness and the story.
	verdict(*finding) error
}

// holding are the kinds of events that tell who holds a lock.
func holding() []histories.F {
	return []histories.F{histories.Acquire, histories.Release, histories.Extend, histories.Lost, histories.Abandon, histories.Crash}
}

// A spec describes a property and makes its judge, before the first event.
type spec struct {
	property Property
	// definition says in one sentence when the property holds, for people; it completes "holds if".
	definition string
	judge      func(*record, Options) judge
	// concerns reports whether a history has so far anything to do with the property; if not, it is
	// not reported. Nil means that every history has.
	concerns func(*record) bool
	engine   string
	counts   []histories.F // the kinds of events that the judge looks at
}

// calls concerns histories in which clients make calls of a kind.
func calls(f histories.F) func(*record) bool {
	return func(rec *record) bool { return rec.Tallies[f].Calls > 0 }
}

// Check judges the history of one run on every property.
//
// The harness's own assumptions come first: a history that histories.Validate
// rejects is not judged, and every property is Unknown. When ctx ends, the
// properties that are not decided yet stay Unknown.
//
// The porcupine engine bounds itself with real timers and goroutines, so Check
// must not be called inside a testing/synctest bubble.
func Check(ctx context.Context, events []histories.Event, opt Options) Report {
	return check(ctx, events, opt, opt.specs())
}

func check(ctx context.Context, events []histories.Event, opt Options, specs []spec) Report {
	s := newStream(ctx, opt, specs)
	for _, e := range events {
		_ = s.Add(e)
	}
	return s.Check(opt.Gaps, opt.FaultsExpected)
}

// A disagreement is an error of the checker: two engines gave opposite answers.
type disagreement struct{ what string }

func (d *disagreement) Error() string { return "checker disagreement: " + d.what }

// A panicError is an error of the checker: a judge panicked.
type panicError struct{ cause any }

func (e *panicError) Error() string { return fmt.Sprintf("the judge panicked: %v", e.cause) }
