package harness_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// moody is a lock of which the first tries of one client go wrong, as on a machine that is too busy for the
// lock's own time-outs.
type moody struct {
	locks.Locker
	wrong int
	by    func(context.Context, locks.Locker, string, time.Duration) error
}

func (m *moody) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if m.wrong--; m.wrong >= 0 {
		return nil, m.by(ctx, m.Locker, key, ttl)
	}
	return m.Locker.Acquire(ctx, key, ttl)
}

// refuses says that somebody has the lock, and asks nobody.
func refuses(context.Context, locks.Locker, string, time.Duration) error { return locks.ErrTaken }

// late takes the lock, gives it back, and says that it is not known what became of it.
func late(ctx context.Context, lock locks.Locker, key string, ttl time.Duration) error {
	lease, err := lock.Acquire(ctx, key, ttl)
	if err == nil {
		err = lease.Release(ctx)
	}
	return errors.Join(errors.New("too late"), err)
}

// moodyFrom is a lock of the catalogue of which the n-th client that is made, from 0 on, is moody.
func moodyFrom(t *testing.T, name string, n, wrong int, by func(context.Context, locks.Locker, string, time.Duration) error) locks.Spec {
	t.Helper()
	spec, made := find(t, name), 0
	plain := spec.New
	spec.New = func(env locks.Env) locks.Locker {
		lock := &moody{Locker: plain(env), by: by}
		if made == n {
			lock.wrong = wrong
		}
		made++
		return lock
	}
	return spec
}

func missedSteps(res harness.Result) (why []string) {
	for _, e := range res.Events {
		if e.F == histories.Missed && e.Key != "" {
			why = append(why, e.Value)
		}
	}
	return why
}

// TestFreeLocksThatAreRefused checks that a script does not go on as if a client held the lock that was
// not given it although it was free: the run proves nothing. With nobody refused it proves what it is to.
func TestFreeLocksThatAreRefused(t *testing.T) {
	all := scenarios.All()
	for _, id := range []string{"P14", "P18", "P67"} {
		s := all[slices.IndexFunc(all, func(s scenarios.Scenario) bool { return s.ID == id })]
		for name, by := range map[string]func(context.Context, locks.Locker, string, time.Duration) error{"refused": refuses, "unknown": late} {
			for client := range 2 {
				// B may be told rightly at first that A has it, or try twice.
				cfg, err := s.Config(moodyFrom(t, "setnx-px-lua", client, 1+client, by), s.Broken().Guard, harness.Embedded(), 0)
				if err != nil {
					t.Fatal(err)
				}
				cfg.Seed, cfg.Want = 1, nil
				res := run(t, cfg)
				if why := missedSteps(res); len(why) != 1 {
					t.Errorf("%s, client %d is %s: missed %q, want one step", id, client, name, why)
				}
				for _, r := range res.Report.Results {
					if r.Verdict == checker.Pass {
						t.Errorf("%s, client %d is %s: %s passes", id, client, name, r.Property)
					}
				}
			}
		}
		cfg := scenario(t, s, s.Broken(), harness.Embedded())
		cfg.Seed = 1
		if res := run(t, cfg); len(missedSteps(res)) > 0 || res.Outcome != checker.AsExpected {
			t.Errorf("%s: missed %q, %v", id, missedSteps(res), res.Outcome)
		}
	}
}

// TestFreeLocksThatMayBeRefused checks that what explains a refusal is no miss: another's hold, a fault, a
// lock that waits for replicas which are cut off, and a server that does not execute the command. A lock that
// refuses all the time is judged by that.
func TestFreeLocksThatMayBeRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		lock     locks.Spec
		replicas int
		steps    string
		missed   int
	}{
		"another has it":       {find(t, "setnx-px-lua"), 0, "A acquire; B acquire; A release", 0},
		"it cannot be reached": {find(t, "setnx-px-lua"), 0, "start partition A; A acquire; B acquire; B release", 0},
		"no replica confirms":  {find(t, "setnx-px-wait"), 1, "wait replica-in-sync; start cut-replication; A acquire; B acquire", 0},
		"no replica has to":    {moodyFrom(t, "setnx-px-lua", 0, 1, refuses), 1, "wait replica-in-sync; start cut-replication; A acquire; B acquire", 1},
		"always":               {moodyFrom(t, "setnx-px-lua", 0, 1<<30, refuses), 0, "A acquire; B acquire; B release; A acquire", 2},
	} {
		res := run(t, harness.Config{Deployment: harness.Deployment{Replicas: tc.replicas}, Output: harness.Output{CommandLog: true}, Test: harness.Test{
			Name: "free", Lock: tc.lock, TTL: 3 * time.Second, Seed: 1,
			Workload: script(t, 2, tc.steps),
		}})
		if why := missedSteps(res); len(why) != tc.missed {
			t.Errorf("%s: missed %q, want %d", name, why, tc.missed)
		}
		if got := res.Report.Result(checker.Availability).Verdict; (name == "always") != (got == checker.Fail) {
			t.Errorf("%s: availability %v", name, got)
		}
	}
}
