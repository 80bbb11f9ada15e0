package gate

import (
	"context"
	"slices"
	"sync"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/peers"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// bench plays the locks by which others are measured, each under the same steps once. They
// are always played in virtual time, where they cost milliseconds: the verdicts of a scenario
// are the same on all backends.
type bench struct {
	opt  Options
	mu   sync.Mutex
	runs map[trial]*trialRun
}

// trial is a lock under the steps of a scenario.
type trial struct {
	scenario, remedy, lock string
	guard                  resource.Guard
	seed                   uint64
}

type trialRun struct {
	once     sync.Once
	verdicts peers.Verdicts
}

func newBench(opt Options) *bench { return &bench{opt: opt, runs: map[trial]*trialRun{}} }

// verdicts are what is said of a lock under the steps of a scenario, or nil if it did not come
// to their end, or if nothing could be said.
func (b *bench) verdicts(ctx context.Context, s scenarios.Scenario, t trial) peers.Verdicts {
	b.mu.Lock()
	run := b.runs[t]
	if run == nil {
		run = new(trialRun)
		b.runs[t] = run
	}
	b.mu.Unlock()
	run.once.Do(func() { run.verdicts = b.play(ctx, s, t) })
	return run.verdicts
}

func (b *bench) play(ctx context.Context, s scenarios.Scenario, t trial) peers.Verdicts {
	s, err := s.With(t.remedy)
	if err != nil {
		return nil
	}
	lock, err := b.opt.Locks.Find(t.lock)
	if err != nil {
		return nil
	}
	cfg, err := s.Config(lock, t.guard, harness.Embedded(), 0)
	if err != nil {
		return nil // the steps or the guard are not for this lock
	}
	cfg.Seed, cfg.Version = t.seed, b.opt.Version
	res, err := b.opt.Run(ctx, cfg)
	if err != nil {
		return nil
	}
	return peers.Of(res.Report)
}

// weigh measures what a run of the user's lock found by other locks of its class: what none of
// them keeps under the same steps is no fault of its own. If ctx ends, nothing of it counts.
func (b *bench) weigh(ctx context.Context, it item, row Row) Row {
	if row.Outcome != Unexpected && row.Outcome != Unknown || len(row.Judged) == 0 {
		return row
	}
	for i, f := range row.Judged {
		if f.Property == checker.StrictExclusion && !f.Met && overstayed(it.subject.Lock, row) {
			row.Judged[i].Want, row.Judged[i].Met, row.Judged[i].Story = checker.NotApplicable, true, ""
		}
	}
	if row.judged() == Expected {
		row.Outcome = Expected
		return row
	}
	refs := b.references(ctx, it, row.Seed)
	for i := range row.Judged {
		if f := &row.Judged[i]; !f.Met {
			f.KeptBy, f.Unavoidable = peers.Measure(f.Property, f.Got, refs)
		}
	}
	row.Outcome = row.judged()
	for _, ref := range refs {
		row.References = append(row.References, ref.Name)
	}
	row.Survivors = b.survivors(ctx, it, row)
	return row
}

// references are the locks of the class that came to the end of the steps. If there are none,
// such as where a renewed lease never ends, they are those that promise less.
func (b *bench) references(ctx context.Context, it item, seed uint64) []peers.Reference {
	stranger := it.subject.Lock.New == nil // it is known to its worker alone
	steps := locks.Steps{Failover: it.scenario.Replicas > 0}
	return peers.Play(locks.References(it.subject.Lock, stranger, steps, b.opt.Locks), func(ref locks.Spec) peers.Verdicts {
		return b.verdicts(ctx, it.scenario, trial{scenario: it.scenario.Name, lock: ref.Name, guard: it.cfg.Guard, seed: seed})
	})
}

// overstayed says whether two believed to hold a lock only because one of them went on after
// the deadline that it was told. A lease ends by then, and of a lock that promises no more
// nothing is asked after it.
func overstayed(lock locks.Spec, row Row) bool {
	return !lock.Class().Renews && !lock.Promises.NoLease &&
		slices.ContainsFunc(row.Judged, func(f Finding) bool { return f.Property == checker.LeaseExclusion && f.Got == checker.Pass })
}

// judged is what all findings of a row count for.
func (r Row) judged() Outcome {
	outcome := NotApplicable
	for _, f := range r.Judged {
		outcome = worse(outcome, f.outcome())
	}
	return outcome
}

// outcome is what a finding counts for.
func (f Finding) outcome() Outcome {
	switch {
	case f.Met:
		return Expected
	case f.Unavoidable:
		return Unavoidable
	case f.Got == checker.Unknown || f.Got == checker.Disagreement:
		return Unknown
	}
	return Unexpected
}

// survivors are the cases of the catalogue with a sound lock that were seen to keep, under the same steps, all
// that no lock of the class does.
func (b *bench) survivors(ctx context.Context, it item, row Row) []Survivor {
	var all []Survivor
	if len(row.Unavoidable()) == 0 {
		return nil
	}
	for _, c := range it.scenario.Survivors() {
		if lock, err := b.opt.Locks.Find(c.Lock); err != nil || !lock.Sound {
			continue
		}
		verdicts := b.verdicts(ctx, it.scenario, trial{scenario: it.scenario.Name, remedy: c.Remedy, lock: c.Lock, guard: c.Guard, seed: row.Seed})
		if verdicts != nil && !slices.ContainsFunc(row.Unavoidable(), func(f Finding) bool { return verdicts[f.Property] != checker.Pass }) {
			all = append(all, Survivor{Lock: c.Lock, Guard: c.Guard.String(), Remedy: c.Remedy})
		}
	}
	return all
}
