package gate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
)

// pretend is a harness that plays nothing. Every property comes out as is wanted, unless
// spoil changes the verdicts or returns an error.
func pretend(spoil func(cfg harness.Config, verdicts map[checker.Property]checker.Verdict) error) func(context.Context, harness.Config) (harness.Result, error) {
	return func(_ context.Context, cfg harness.Config) (harness.Result, error) {
		verdicts := map[checker.Property]checker.Verdict{}
		for _, p := range []checker.Property{checker.StrictExclusion, checker.Ownership, checker.DeadlockFreedom} {
			verdicts[p] = checker.Pass
		}
		for p, v := range cfg.Want {
			verdicts[p] = v
		}
		res := harness.Result{Config: cfg, Events: []histories.Event{{}}}
		if spoil != nil {
			if err := spoil(cfg, verdicts); err != nil {
				return res, err
			}
		}
		for _, p := range checker.Properties() {
			if v, ok := verdicts[p]; ok {
				res.Report.Results = append(res.Report.Results, checker.Result{Property: p, Verdict: v, Story: "The story of " + string(p) + "."})
			}
		}
		res.Outcome, res.Expected = checker.Compare(res.Report, cfg.Want)
		return res, nil
	}
}

// spoiled makes one case of P07 come out as the verdicts say.
func spoiled(lock string, verdicts map[checker.Property]checker.Verdict) func(context.Context, harness.Config) (harness.Result, error) {
	return pretend(func(cfg harness.Config, v map[checker.Property]checker.Verdict) error {
		if cfg.Pitfall == "P07" && cfg.Lock.Name == lock {
			for p, verdict := range verdicts {
				v[p] = verdict
			}
		}
		return nil
	})
}

// TestOutcomes checks what each kind of surprise does to the gate.
func TestOutcomes(t *testing.T) {
	type verdicts = map[checker.Property]checker.Verdict
	for name, tc := range map[string]struct {
		lock     string
		verdicts verdicts
		failOn   []checker.Property
		want     gate.Outcome
		says     string
	}{
		"all as expected":       {"setnx-px-lua", nil, nil, gate.Expected, "everything came out as expected"},
		"a broken lock escapes": {"setnx-px-del", verdicts{checker.Ownership: checker.Pass}, nil, gate.Unexpected, "not caught: ownership"},
		"a sound lock accused":  {"setnx-px-lua", verdicts{checker.Ownership: checker.Fail}, nil, gate.Unexpected, "violated: ownership"},
		"doubt about a twin":    {"setnx-px-lua", verdicts{checker.Ownership: checker.Unknown}, nil, gate.Unknown, "unknown: ownership"},
		"doubt about the bad":   {"setnx-px-del", verdicts{checker.Ownership: checker.Unknown}, nil, gate.Unknown, "unknown, which is no pass"},
		"another decides":       {"setnx-px-lua", verdicts{checker.Ownership: checker.Fail}, []checker.Property{checker.DeadlockFreedom}, gate.Expected, "decided by deadlock freedom"},
		"it decides":            {"setnx-px-lua", verdicts{checker.Ownership: checker.Fail}, []checker.Property{checker.Ownership}, gate.Unexpected, "violated: ownership"},
		"nobody can decide":     {"setnx-px-lua", nil, []checker.Property{checker.Fencing}, gate.NotApplicable, "none, as nothing of it applies"},
	} {
		t.Run(name, func(t *testing.T) {
			res := play(t, gate.Options{Only: []string{"P02", "P07"}, FailOn: tc.failOn, Run: spoiled(tc.lock, tc.verdicts)})
			if got := res.Outcome(gate.Baseline{}); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
			if got := text(t, res); !strings.Contains(got, tc.says) {
				t.Errorf("want %q in:\n%s", tc.says, got)
			}
		})
	}
}

// TestRunErrors checks what an error of a run counts for.
func TestRunErrors(t *testing.T) {
	unplayable := &player.StepError{N: 4, Step: schedule.Step{Verb: schedule.Wait, What: schedule.LeaseEnds}, Err: &player.UnplayableError{Why: "it never does"}}
	step := &player.StepError{N: 4, Step: schedule.Step{Verb: schedule.Start, What: "kill"}, Err: errors.New("it does not")}
	lock, err := libraries.Catalogue().Find("setnx-px-lua")
	if err != nil {
		t.Fatal(err)
	}
	own := &gate.Subject{Lock: lock}
	for name, tc := range map[string]struct {
		err     error
		subject *gate.Subject
		want    gate.Outcome
	}{
		"a step of the catalogue":             {step, nil, gate.Failed},
		"a step that its lock never comes to": {unplayable, nil, gate.Failed},
		"a step under another lock":           {step, own, gate.Unknown},
		"a step that it never comes to":       {unplayable, own, gate.NotApplicable},
		"a fault that cannot be had":          {&harness.NeedsError{Why: errors.New("none")}, nil, gate.NotApplicable},
		"a server that ended by itself":       {&harness.DeathError{Node: "master", How: "signal: killed"}, own, gate.Failed},
		"the harness":                         {errors.New("two judges contradict each other"), own, gate.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			res := play(t, gate.Options{Only: []string{"P07"}, Subject: tc.subject, Run: pretend(func(harness.Config, map[checker.Property]checker.Verdict) error { return tc.err })})
			for _, r := range res.Rows {
				if r.Outcome != tc.want || r.Reason != tc.err.Error() {
					t.Errorf("%v for %q, want %v", r.Outcome, r.Reason, tc.want)
				}
			}
			if whole := res.Outcome(gate.Baseline{}); whole == gate.Expected || len(res.Rows) == 0 {
				t.Errorf("%d runs that failed are %v", len(res.Rows), whole)
			}
		})
	}
}

// TestSeedsThatDiffer checks that a seed in which a fault cannot be had hides nothing of another.
func TestSeedsThatDiffer(t *testing.T) {
	lock, err := libraries.Catalogue().Find("setnx-px-lua")
	if err != nil {
		t.Fatal(err)
	}
	res := play(t, gate.Options{Only: []string{"P07"}, Seed: 1, Runs: 2, Subject: &gate.Subject{Lock: lock}, Run: pretend(func(cfg harness.Config, v map[checker.Property]checker.Verdict) error {
		if cfg.Lock.Name != lock.Name {
			return nil
		}
		v[checker.Ownership] = checker.Fail
		if cfg.Seed == 2 {
			return &harness.NeedsError{Why: errors.New("none")}
		}
		return nil
	})})
	if got := text(t, res); !strings.Contains(got, "delete-without-check (1 of 2 seeds): ownership") {
		t.Errorf("the summary does not tell what is violated:\n%s", got)
	}
}

// TestNothingCanRun checks that what keeps the first run from beginning ends the gate, and is
// not told once for each run.
func TestNothingCanRun(t *testing.T) {
	missing := errors.New("redis-server is not there")
	plan, err := gate.NewPlan(gate.Options{Run: func(context.Context, harness.Config) (harness.Result, error) {
		return harness.Result{}, missing
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Play(t.Context(), 2, gate.Watch{}); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
}

// TestCancelled checks that what was done when the context ends is kept, and that nothing
// else begins.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var began atomic.Int32
	plan, err := gate.NewPlan(gate.Options{Runs: 50, Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
		if began.Add(1) == 5 {
			cancel()
			return harness.Result{Events: []histories.Event{{}}}, ctx.Err()
		}
		return pretend(nil)(ctx, cfg)
	}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Play(ctx, 1, gate.Watch{})
	if err != nil || len(res.Rows) != 4 || res.Whole() || began.Load() != 5 {
		t.Errorf("%d rows of %d begun, whole %v, %v", len(res.Rows), began.Load(), res.Whole(), err)
	}
	if got := text(t, res); !strings.Contains(got, "cut short after 4 of") {
		t.Error(got)
	}
}

// TestJobs checks that so many runs go on at a time, and that the order of the results is
// that of the plan.
func TestJobs(t *testing.T) {
	const jobs = 4
	var mu sync.Mutex
	now, most := 0, 0
	full := make(chan struct{})
	opt := gate.Options{Runs: 4, Run: func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
		mu.Lock()
		now++
		if most = max(most, now); most == jobs {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		<-full // opens once as many go on as ever will
		defer func() { mu.Lock(); now--; mu.Unlock() }()
		return pretend(nil)(ctx, cfg)
	}}
	plan, err := gate.NewPlan(opt)
	if err != nil {
		t.Fatal(err)
	}
	told, last := 0, 0.0
	res, err := plan.Play(t.Context(), jobs, gate.Watch{Done: func(_ gate.Row, runs int, share float64) {
		if told++; runs != told || share <= last {
			t.Errorf("run %d is told as %d, %.2f after %.2f", told, runs, share, last)
		}
		last = share
	}})
	if err != nil || most != jobs || told != len(res.Rows) || last != 1 {
		t.Errorf("%d at a time, want %d; %d told of %d, %.3f done; %v", most, jobs, told, len(res.Rows), last, err)
	}
	for i, r := range res.Rows {
		if r.At != i {
			t.Fatalf("row %d is number %d of the plan", i, r.At)
		}
	}
}

// TestNobodyLooked: runs that put nothing to the test, those of the references too, excuse nobody.
func TestNobodyLooked(t *testing.T) {
	mine, err := libraries.Catalogue().Find("setnx-px-lua")
	if err != nil {
		t.Fatal(err)
	}
	res := play(t, gate.Options{
		Only: []string{"P07"}, Subject: &gate.Subject{Lock: mine},
		Run: pretend(func(_ harness.Config, v map[checker.Property]checker.Verdict) error {
			for p := range v {
				v[p] = checker.Unknown
			}
			return nil
		}),
	})
	if out := res.Outcome(gate.Baseline{}); out != gate.Unknown {
		t.Errorf("the gate is %v, want it unknown:\n%s", out, text(t, res))
	}
}
