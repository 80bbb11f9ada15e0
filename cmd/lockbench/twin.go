package main

import (
	"context"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gates"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/scenarios"
)

// withSchedule adds to a run what its page has of the schedule that was played: its text, what waited for what, and, in virtual time,
// the run of a lock that keeps something that this one broke, if the schedule expects that of one.
func withSchedule(ctx context.Context, r *report.Run, s scenarios.Scenario, res harness.Result) {
	r.Schedule, r.Gates = strings.TrimSpace(s.Text), gates.Of(s.Script.Schedule, res)
	if r.Outcome == checker.Undecided || r.Verdict != checker.Fail || !histories.VirtualTime(r.Backend) {
		return
	}
	for _, c := range s.Survivors() {
		if c.Lock == r.Lock && c.Guard.String() == r.Guard || c.Remedy != "" {
			continue
		}
		if twin, ok := twinOf(ctx, c, s, res); ok {
			r.Twin = &twin
			return
		}
	}
}

// twinOf plays a schedule with another lock, with the seed of a run. ok says that it could be played, and that the lock keeps
// something that the run broke.
func twinOf(ctx context.Context, c scenarios.Case, s scenarios.Scenario, of harness.Result) (twin report.Run, ok bool) {
	lock, err := libraries.Catalogue().Find(c.Lock)
	if err != nil {
		return twin, false
	}
	cfg, err := s.Config(lock, c.Guard, harness.Embedded(), of.Meta.TTL)
	if err != nil {
		return twin, false
	}
	cfg.Seed, cfg.Version = of.Meta.Seed, of.Meta.Version
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return twin, false // it is shown beside the run, and is no part of it
	}
	keeps := false
	for _, mine := range of.Report.Results {
		keeps = keeps || mine.Verdict == checker.Fail && res.Report.Result(mine.Property).Verdict != checker.Fail
	}
	return draw(res), keeps
}
