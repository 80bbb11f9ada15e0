package peers

import (
	"context"
	"sync"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// Bench plays the locks by which others are measured under the steps of scenarios, each under the
// same steps once. They are always played in virtual time, where they cost milliseconds: the
// verdicts of a scenario are the same on all backends.
//
// A Bench may be used by several goroutines.
type Bench struct {
	Locks   locks.Catalogue // among which references are looked for
	Version string          // optional: of lockbench
	// Run plays one run. Optional: harness.Run.
	Run func(context.Context, harness.Config) (harness.Result, error)

	mu   sync.Mutex
	runs map[tried]*played
}

// Trial is a lock under the steps of a scenario.
type Trial struct {
	Lock   string
	Guard  resource.Guard
	Remedy string // optional: the one of the scenario's that is in place
	Seed   uint64
}

type tried struct {
	Trial
	scenario string
}

// Verdicts returns what is said of a lock under the steps of a scenario, or nil if it did not come
// to their end, or if nothing could be said.
func (b *Bench) Verdicts(ctx context.Context, s scenarios.Scenario, t Trial) Verdicts {
	b.mu.Lock()
	if b.runs == nil {
		b.runs = map[tried]*played{}
	}
	run := b.runs[tried{t, s.Name}]
	if run == nil {
		run = new(played)
		b.runs[tried{t, s.Name}] = run
	}
	b.mu.Unlock()
	run.once.Do(func() { run.verdicts = b.play(ctx, s, t) })
	return run.verdicts
}

func (b *Bench) play(ctx context.Context, s scenarios.Scenario, t Trial) Verdicts {
	s, err := s.With(t.Remedy)
	if err != nil {
		return nil
	}
	lock, err := b.Locks.Find(t.Lock)
	if err != nil {
		return nil
	}
	cfg, err := s.Config(lock, t.Guard, harness.Embedded(), 0)
	if err != nil {
		return nil // the steps or the guard are not for this lock
	}
	cfg.Seed, cfg.Version = t.Seed, b.Version
	run := b.Run
	if run == nil {
		run = harness.Run
	}
	res, err := run(ctx, cfg)
	if err != nil {
		return nil
	}
	return Of(res.Report)
}

// References returns the locks of the class of a lock that came to the end of the steps. If there
// are none, such as where a renewed lease never ends, they are those that promise less. stranger
// says that the lock is none of the Bench's, whatever its name.
func (b *Bench) References(ctx context.Context, s scenarios.Scenario, lock locks.Spec, stranger bool, guard resource.Guard, seed uint64) []Reference {
	return Play(lock.References(stranger, locks.Steps{Failover: s.Replicas > 0}, b.Locks), func(ref locks.Spec) Verdicts {
		return b.Verdicts(ctx, s, Trial{Lock: ref.Name, Guard: guard, Seed: seed})
	})
}

// Overstayed reports whether two believed to hold a lock only because one of them went on after
// the deadline that it was told. A lease ends by then, and of a lock that promises no more
// nothing is asked after it. got says what was found of a property.
func Overstayed(lock locks.Spec, got func(checker.Property) checker.Verdict) bool {
	return !lock.Class().Renews && !lock.Promises.NoLease && got(checker.LeaseExclusion) == checker.Pass
}
