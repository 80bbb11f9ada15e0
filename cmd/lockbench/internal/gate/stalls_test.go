package gate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/report"
)

// standing is a harness in which the machine stands still in the first runs of some cases, so
// that nothing is known of them.
type standing struct {
	mu     sync.Mutex
	stalls int // that each of these cases begins with
	only   string
	fails  bool // besides, something fails then
	seen   map[string]int
	now    int // runs at a time
	last   []int
}

func (s *standing) run(ctx context.Context, cfg harness.Config) (harness.Result, error) {
	s.mu.Lock()
	s.seen[cfg.Name+cfg.Lock.Name]++
	stands := cfg.Lock.Name == s.only && s.seen[cfg.Name+cfg.Lock.Name] <= s.stalls
	s.now++
	s.last = append(s.last, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	res, err := pretend(func(_ harness.Config, v map[checker.Property]checker.Verdict) error {
		if stands {
			v[checker.Ownership] = checker.Unknown
			if s.fails {
				v[checker.DeadlockFreedom] = checker.Fail
			}
		}
		return nil
	})(ctx, cfg)
	if stands {
		res.Events = append(res.Events, histories.Event{Process: histories.Nemesis, F: histories.Stall, TTL: time.Second})
	}
	return res, err
}

// TestStalledRunsArePlayedAgain counts how often runs are played that the machine stands still in.
func TestStalledRunsArePlayedAgain(t *testing.T) {
	for stalls, want := range map[int]gate.Outcome{0: gate.Expected, 1: gate.Expected, 3: gate.Expected, 4: gate.Unknown} {
		s := &standing{stalls: stalls, only: "setnx-px-lua", seen: map[string]int{}}
		res := play(t, gate.Options{Only: []string{"P07"}, Run: s.run})
		if got := res.Outcome(gate.Baseline{}); got != want || res.Stalls.Again != min(stalls, 3) {
			t.Errorf("%d stalls: %v, and %d runs played again; want %v", stalls, got, res.Stalls.Again, want)
		}
		var text strings.Builder
		if err := res.Text(&text, gate.Baseline{}, report.Style{}); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(text.String(), "stood still"); told != (stalls > 0) {
			t.Errorf("%d stalls: told %v\n%s", stalls, told, text.String())
		}
	}
}

// TestStalledFailuresArePlayedAgain checks that a run in which something fails is played again, too,
// if a stall leaves anything else unknown.
func TestStalledFailuresArePlayedAgain(t *testing.T) {
	s := &standing{stalls: 1, only: "setnx-px-lua", fails: true, seen: map[string]int{}}
	res := play(t, gate.Options{Only: []string{"P07"}, Run: s.run})
	if got := res.Outcome(gate.Baseline{}); got != gate.Expected || res.Stalls.Again != 1 {
		t.Errorf("%v, and %d runs played again; want %v and 1", got, res.Stalls.Again, gate.Expected)
	}
}

// TestBusyRunsArePlayedAgain checks that a run on real servers in which a client was not given a free lock is
// played again, unless the lock refuses it by itself; and none in virtual time, where nothing is busy.
func TestBusyRunsArePlayedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		backend      string
		availability checker.Verdict
		again        int
	}{
		"real":            {histories.BackendProcess, checker.Unknown, 3},
		"it never grants": {histories.BackendProcess, checker.Fail, 0},
		"in virtual time": {histories.BackendEmbedded, checker.Unknown, 0},
	} {
		res := play(t, gate.Options{Only: []string{"P07"}, Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
			res, err := pretend(func(_ harness.Config, v map[checker.Property]checker.Verdict) error {
				if cfg.Lock.Name == "setnx-px-lua" {
					v[checker.Ownership], v[checker.Availability] = checker.Unknown, tc.availability
				}
				return nil
			})(ctx, cfg)
			if res.Meta.Backend = tc.backend; cfg.Lock.Name == "setnx-px-lua" {
				res.Events = append(res.Events, histories.Event{Process: histories.Nemesis, F: histories.Missed, Key: "k"})
			}
			return res, err
		}})
		if res.Stalls.Again != tc.again {
			t.Errorf("%s: %d runs played again, want %d", name, res.Stalls.Again, tc.again)
		}
	}
}

// TestSlowAccusationsArePlayedAgain checks that what a lock is accused of where a real server answered too late is played again, and what it is
// accused of where all answered in time is not.
func TestSlowAccusationsArePlayedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		backend string
		took    time.Duration
		again   int
	}{
		"slow":            {histories.BackendProcess, time.Second, 3},
		"in time":         {histories.BackendProcess, time.Millisecond, 0},
		"in virtual time": {histories.BackendEmbedded, time.Second, 0},
	} {
		res := play(t, gate.Options{Only: []string{"P07"}, Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
			res, err := pretend(func(_ harness.Config, v map[checker.Property]checker.Verdict) error {
				if cfg.Lock.Name == "setnx-px-lua" {
					v[checker.DeadlockFreedom] = checker.Fail
				}
				return nil
			})(ctx, cfg)
			res.Meta.Backend = tc.backend
			res.Events = []histories.Event{{Time: 2 * time.Second}}
			res.Exchanges = []histories.Exchange{{Command: "SET k a NX", Replied: tc.took}}
			return res, err
		}})
		if res.Stalls.Again != tc.again || res.Outcome(gate.Baseline{}) != gate.Unexpected {
			t.Errorf("%s: %v, and %d runs played again; want %v and %d", name, res.Outcome(gate.Baseline{}), res.Stalls.Again, gate.Unexpected, tc.again)
		}
	}
}

// TestLongerLeases checks that on real servers a run is played again with leases twice as long from the second time on, and that its command says
// so; and that one whose steps were not played in time is, too.
func TestLongerLeases(t *testing.T) {
	for name, tc := range map[string]struct {
		backend harness.Backend
		err     error
		calm    bool // nothing shows that the machine is busy
		want    []time.Duration
	}{
		"real":            {harness.Process(), nil, false, []time.Duration{time.Second, time.Second, 2 * time.Second, 4 * time.Second}},
		"in virtual time": {harness.Embedded(), nil, false, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second, 3 * time.Second}},
		"unknown":         {harness.Process(), nil, true, []time.Duration{time.Second, time.Second, 2 * time.Second, 4 * time.Second}},
		"unknown there":   {harness.Embedded(), nil, true, []time.Duration{3 * time.Second}},
		"a late step":     {harness.Process(), &player.StepError{Err: errors.New("late")}, false, []time.Duration{time.Second, time.Second, 2 * time.Second, 4 * time.Second}},
		"no such step":    {harness.Process(), &player.StepError{Err: &player.UnplayableError{Why: "no renewal"}}, false, []time.Duration{time.Second}},
	} {
		var mu sync.Mutex
		var got []time.Duration
		res := play(t, gate.Options{
			Only: []string{"P07"}, Backend: tc.backend,
			Command: func(_ harness.Config, _ string, ttl time.Duration) string { return ttl.String() },
			Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
				if cfg.Lock.Name != "setnx-px-lua" {
					return pretend(nil)(ctx, cfg)
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, cfg.TTL)
				res, err := pretend(func(_ harness.Config, v map[checker.Property]checker.Verdict) error {
					v[checker.Ownership] = checker.Unknown
					return tc.err
				})(ctx, cfg)
				if !tc.calm {
					res.Events = append(res.Events, histories.Event{Process: histories.Nemesis, F: histories.Stall, TTL: time.Second})
				}
				return res, err
			},
		})
		last := tc.want[len(tc.want)-1]
		if last == tc.want[0] {
			last = 0 // as planned
		}
		i := slices.IndexFunc(res.Rows, func(r gate.Row) bool { return r.Lock == "setnx-px-lua" })
		if !slices.Equal(got, tc.want) || i < 0 || res.Rows[i].Command != last.String() {
			t.Errorf("%s: played with leases of %v, want %v; rows %+v", name, got, tc.want, res.Rows)
		}
	}
}

// TestLocksThatWait checks that a lock which may have waited because the machine was too busy is tried again, and taken to wait if it does so
// each time; from then on it is not tried again.
func TestLocksThatWait(t *testing.T) {
	waits := &player.StepError{Err: &player.UnplayableError{Why: "it waits", Slow: true}}
	for name, tc := range map[string]struct {
		waits  int // runs
		played int
		want   gate.Outcome
	}{
		"at once":    {0, 1, gate.Expected},
		"once":       {1, 2, gate.Expected},
		"every time": {100, 4, gate.NotApplicable},
	} {
		lock, err := libraries.Catalogue().Find("setnx-px-lua")
		if err != nil {
			t.Fatal(err)
		}
		played := map[string]int{}
		plan, err := gate.NewPlan(gate.Options{
			Only: []string{"P07", "P10"}, Backend: harness.Process(), Subject: &gate.Subject{Lock: lock},
			Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
				played[cfg.Name]++
				return pretend(func(harness.Config, map[checker.Property]checker.Verdict) error {
					if played[cfg.Name] <= tc.waits {
						return waits
					}
					return nil
				})(ctx, cfg)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		res, err := plan.Play(t.Context(), 1, gate.Watch{})
		if err != nil || res.Stalls.Again != 0 {
			t.Errorf("%s: %v, and %d runs spoilt", name, err, res.Stalls.Again)
		}
		if len(res.Rows) != 2 {
			t.Fatalf("%s: %d rows, want 2", name, len(res.Rows))
		}
		for i, row := range res.Rows {
			want := tc.played
			if i > 0 && row.Outcome == gate.NotApplicable {
				want = 1
			}
			if row.Outcome != tc.want || played[row.Scenario] != want {
				t.Errorf("%s: %s came out %v after %d runs, want %v after %d", name, row.Scenario, row.Outcome, played[row.Scenario], tc.want, want)
			}
		}
	}
}

// TestStallsNarrow checks that after stalls fewer runs are played at a time, and that all are.
func TestStallsNarrow(t *testing.T) {
	s := &standing{stalls: 1, only: "setnx-px-lua", seen: map[string]int{}}
	plan, err := gate.NewPlan(gate.Options{Run: s.run})
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Play(t.Context(), 8, gate.Watch{})
	if err != nil || !res.Whole() || res.Outcome(gate.Baseline{}) != gate.Expected {
		t.Fatalf("%v, whole %v, %v", err, res.Whole(), res.Outcome(gate.Baseline{}))
	}
	if s.last[len(s.last)-1] != 1 || res.Stalls.Jobs != 1 || res.Stalls.Again < 4 {
		t.Errorf("%+v, and the last run was played with %d at a time; want 1", res.Stalls, s.last[len(s.last)-1])
	}
}
