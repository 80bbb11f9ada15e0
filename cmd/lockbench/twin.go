package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gates"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/scenarios"
)

// played is the schedule of the user's that a run played, as it is kept beside the history: what the steps waited for is in no history.
type played struct {
	Schedule string        `json:"schedule"`
	Gates    []report.Gate `json:"gates"` // what waited for what
}

// withSchedule adds to a run what its page has of the schedule that was played: its text, what waited for what, and, in virtual time,
// the run of a lock that keeps something that this one broke, if the schedule expects that of one.
func withSchedule(ctx context.Context, r *report.Run, s scenarios.Scenario, res harness.Result) {
	r.Schedule, r.Gates = strings.TrimSpace(s.Text), gates.Of(s.Script.Schedule, res)
	withTwin(ctx, r, s)
}

// keepSchedule keeps the schedule of a run for those who draw it again.
func keepSchedule(r report.Run) error {
	text, err := json.MarshalIndent(played{r.Schedule, r.Gates}, "", "  ")
	if err != nil {
		return err
	}
	return histories.At(r.Dir).WriteFile(histories.ScheduleFile, append(text, '\n'))
}

// withKept adds to a run what keepSchedule kept of it, and its twin, which is played again. A run of no schedule of the user's is left as it is.
func withKept(ctx context.Context, r *report.Run) error {
	name := filepath.Join(r.Dir, histories.ScheduleFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept played
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("%s: %w; want the schedule of a run as lockbench writes it", name, err)
	}
	s, err := scenarios.Parse(kept.Schedule)
	if err != nil {
		return fmt.Errorf("%s: its schedule: %w", name, err)
	}
	for _, g := range kept.Gates {
		if g.Event < 0 || g.Event >= len(r.Events) || g.From < 0 || g.To < g.From {
			return fmt.Errorf("%s: it waited for event %d from %v to %v, want one of %d events, and times in their order", name, g.Event, g.From, g.To, len(r.Events))
		}
	}
	r.Schedule, r.Gates = kept.Schedule, kept.Gates
	withTwin(ctx, r, s)
	return nil
}

// withTwin plays the schedule of a run in virtual time with a lock that keeps something that the run broke, if the schedule expects that of one.
func withTwin(ctx context.Context, r *report.Run, s scenarios.Scenario) {
	if r.Outcome == checker.Undecided || r.Verdict != checker.Fail || !histories.VirtualTime(r.Backend) {
		return
	}
	for _, c := range s.Survivors() {
		if c.Lock == r.Lock && c.Guard.String() == r.Guard || c.Remedy != "" {
			continue
		}
		if twin, ok := twinOf(ctx, c, s, *r); ok {
			r.Twin = &twin
			return
		}
	}
}

// twinOf plays a schedule with another lock, with the seed of a run. ok says that it could be played, and that the lock keeps
// something that the run broke.
func twinOf(ctx context.Context, c scenarios.Case, s scenarios.Scenario, of report.Run) (twin report.Run, ok bool) {
	lock, err := libraries.Catalogue().Find(c.Lock)
	if err != nil {
		return twin, false
	}
	cfg, err := s.Config(lock, c.Guard, harness.Embedded(), of.TTL)
	if err != nil {
		return twin, false
	}
	cfg.Seed, cfg.Version = of.Seed, of.Version
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return twin, false // it is shown beside the run, and is no part of it
	}
	keeps := false
	for _, mine := range of.Results {
		keeps = keeps || mine.Verdict == checker.Fail && res.Report.Result(mine.Property).Verdict != checker.Fail
	}
	return draw(res), keeps
}
