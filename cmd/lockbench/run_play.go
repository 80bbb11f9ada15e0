package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
)

// mostAgain is how often a scenario is played again of which nothing is known because lockbench, or
// the machine, stood still or was too busy.
const mostAgain = 4

// run runs cfg f.runs times, and says how the program ends.
func (f *runFlags) run(ctx context.Context, cfg harness.Config, stdout, stderr io.Writer) error {
	expectServers(ctx, cfg.Backend)
	cfg, err := f.wanted(cfg)
	if err != nil {
		return usage(err)
	}
	how := &runsProgress{Teller: newProgress(stderr), runs: f.runs, limit: cfg.Limit}
	stop := ticking(how.tell)
	defer func() { stop(); how.End() }()
	cfg.Log = how.Beside(stderr)
	cfg.Seen = func(at time.Duration) { how.seen.Store(int64(at)) }
	told := &runsTold{flags: f, style: styleOf(stdout), stdout: how.Beside(stdout), log: cfg.Log, worst: checker.AsExpected, count: map[checker.Outcome]int{}}
	for i := range f.runs {
		cfg.Seed = f.seed + uint64(i)
		cfg.Command, cfg.Alternatives = f.replay(cfg.Seed), f.alternatives(cfg)
		if ctx.Err() != nil {
			return told.failed(f.unbegun(cfg.Seed), f.interrupted(i))
		}
		res, err := f.settled(ctx, cfg)
		if err != nil {
			return told.broken(res, f.why(ctx, err, i))
		}
		how.next()
		if err := told.one(ctx, res); err != nil {
			return failure(err)
		}
		if f.failFast && res.Outcome != checker.AsExpected {
			break
		}
	}
	return told.end()
}

// wanted adds what is asked of the runs, and where they are kept.
func (f *runFlags) wanted(cfg harness.Config) (harness.Config, error) {
	if f.out != noStore {
		cfg.Out = f.out
	}
	cfg.Version = buildVersion()
	if cfg.FailFast = f.failFast; f.expect != expectCatalogue {
		cfg.Want = nil // all properties count, for failing fast too
		return cfg, cfg.Expect.UnmarshalText([]byte(f.expect))
	}
	return cfg, nil
}

// settled plays one run, and a scenario again if a standstill leaves nothing to be said of it.
func (f *runFlags) settled(ctx context.Context, cfg harness.Config) (harness.Result, error) {
	for again := 1; ; again++ {
		res, err := harness.Run(ctx, cfg)
		if err != nil || f.scenario == "" || res.Outcome != checker.Undecided || !res.Busy() || again > mostAgain || ctx.Err() != nil {
			return res, err
		}
		fmt.Fprintln(cfg.Log, "lockbench: during the run lockbench, or the machine, stood still or was too busy, and nothing can be said of it; playing it again")
	}
}

// why returns why a run broke down after so many others: what it says, or that it was interrupted.
func (f *runFlags) why(ctx context.Context, err error, done int) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return f.interrupted(done)
	}
	return err
}

// interrupted says how far the runs came.
func (f *runFlags) interrupted(done int) error {
	return fmt.Errorf("interrupted after %d of %d runs", done, f.runs)
}
