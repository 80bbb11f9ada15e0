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

// settled plays one run, and a scenario again if a machine that is too busy spoilt it.
func (f *runFlags) settled(ctx context.Context, planned harness.Config) (harness.Result, error) {
	cfg := planned
	for n := 1; ; n++ {
		res, err := harness.Run(ctx, cfg)
		if n > mostAgain || !f.spoilt(cfg, res, err) || ctx.Err() != nil {
			return res, err
		}
		why := "nothing can be said of the run: lockbench, or the machine, stood still or may have been too busy"
		if err != nil {
			why = fmt.Sprintf("%v; the machine may have been too busy", err)
		}
		how := ""
		if cfg = f.again(planned, n); cfg.TTL != planned.TTL {
			how = fmt.Sprintf(" with leases of %v", cfg.TTL)
		}
		fmt.Fprintf(cfg.Log, "lockbench: %s; playing it again%s\n", why, how)
	}
}

// again is a run to play after n that were spoilt. A lease that the user asked for stays.
func (f *runFlags) again(planned harness.Config, n int) harness.Config {
	cfg := planned.Again(n)
	if f.ttl != 0 || cfg.TTL == planned.TTL {
		return planned
	}
	longer := *f
	longer.ttl = cfg.TTL
	cfg.Command = longer.replay(cfg.Seed)
	return cfg
}

// spoilt reports whether a machine that is too busy leaves nothing to be said of a scenario's run: it stood still, or on real servers it was
// too slow for what the steps are to show of a lock that they were written for.
func (f *runFlags) spoilt(cfg harness.Config, res harness.Result, err error) bool {
	switch {
	case f.scenario == "":
		return false
	case harness.SeemsToWait(err):
		return !cfg.Backend.Virtual()
	case err != nil:
		return !cfg.Backend.Virtual() && harness.Unplayed(err) && !harness.NotApplicable(err) && !f.strange(err)
	}
	return res.Outcome == checker.Undecided && (res.Busy() || !cfg.Backend.Virtual() && !f.stranger())
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
