package gate_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// fault is something wrong with the harness itself, and a scenario that must not come out as
// expected then.
type fault struct {
	name, scenario string
	spoil          func(*harness.Config)
}

// faults are all of them. Each leaves the rest of the harness as it is.
func faults() []fault {
	return []fault{
		{"a judge that always passes", "P07", judge(func(ctx context.Context, events []histories.Event, opt checker.Options) checker.Report {
			r := checker.Check(ctx, events, opt)
			r.Verdict = checker.Pass
			for i := range r.Results {
				r.Results[i].Verdict = checker.Pass
			}
			return r
		})},
		{"a judge that ignores releases", "P08", events(func(e histories.Event) bool { return e.F != histories.Release })},
		{"a recorder that drops grants", "P14", dropGrants()},
		{"a recorder whose clock is slow", "P11", slow()},
		{"a pause that does not pause", "P11", instead(nemesis.PauseF, never)},
		{"a pause that is over at once", "P11", instead(nemesis.PauseF, atOnce)},
		{"a link that is not cut", "P14", instead(nemesis.CutReplicationF, never)},
		{"a hold that does not hold", "P08", instead(nemesis.HoldF, atOnce)},
		{"a kill that does not kill", "P14", servers(func(c *embedded.Cluster) any { return immortal{c} })},
		{"a promotion that does not promote", "P14", servers(func(c *embedded.Cluster) any { return modest{c} })},
		{"a promotion that is only told", "P14", instead(nemesis.PromoteF, never)},
		{"a crash that does not crash", "P02", without("kill-client")},
		{"a lease that is not waited for", "P07", without(schedule.LeaseEnds)},
		{"an epilogue that does not probe", "P08", func(cfg *harness.Config) { cfg.Workload = unprobed{cfg.Workload} }},
		{"a clock jump that does not jump", "P52", instead(nemesis.ClockF, never)},
		{"a prober that says yes to itself", "P02", stage(func(s *player.Stage) { s.Prober.Lock = yesMan{} })},
	}
}

// TestHarnessFaults plays a scenario with a faulty harness. Whatever the fault, the gate must
// turn red.
func TestHarnessFaults(t *testing.T) {
	all := faults()
	if len(all) < 10 {
		t.Errorf("%d faults, want ten or more", len(all))
	}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			opt := gate.Options{Only: []string{f.scenario}}
			if res := play(t, opt); res.Outcome(gate.Baseline{}) != gate.Expected {
				t.Fatalf("without the fault it is %v:\n%s", res.Outcome(gate.Baseline{}), text(t, res))
			}
			opt.Run = func(ctx context.Context, cfg harness.Config) (harness.Result, error) {
				f.spoil(&cfg)
				return harness.Run(ctx, cfg)
			}
			res := play(t, opt)
			if res.Outcome(gate.Baseline{}) == gate.Expected {
				t.Errorf("nobody noticed:\n%s", text(t, res))
			}
			t.Log(text(t, res))
		})
	}
}

// judge takes the place of the judge.
func judge(f func(context.Context, []histories.Event, checker.Options) checker.Report) func(*harness.Config) {
	return func(cfg *harness.Config) { cfg.Seams.Judge = f }
}

// events lets the judge see only some events.
func events(see func(histories.Event) bool) func(*harness.Config) {
	return rewritten(func(events []histories.Event) []histories.Event {
		return slices.DeleteFunc(events, func(e histories.Event) bool { return !see(e) })
	})
}

// rewritten lets the judge see another history than was recorded.
func rewritten(f func([]histories.Event) []histories.Event) func(*harness.Config) {
	return judge(func(ctx context.Context, recorded []histories.Event, opt checker.Options) checker.Report {
		events := f(slices.Clone(recorded))
		for i := range events {
			events[i].Index = i
		}
		return checker.Check(ctx, events, opt)
	})
}

// dropGrants loses the second grant of the run, with everything that was done under it.
func dropGrants() func(*harness.Config) {
	return rewritten(func(events []histories.Event) []histories.Event {
		var granted []uint64
		for _, e := range events {
			if e.F == histories.Acquire && e.Type == histories.OK {
				granted = append(granted, e.Attempt)
			}
		}
		if len(granted) < 2 {
			return events
		}
		return slices.DeleteFunc(events, func(e histories.Event) bool { return e.Attempt == granted[1] })
	})
}

// slow stamps events with a clock that runs at half the speed.
func slow() func(*harness.Config) {
	return rewritten(func(events []histories.Event) []histories.Event {
		for i := range events {
			events[i].Time /= 2
		}
		return events
	})
}

// unprobed is a workload after which there is no key left that the epilogue could probe.
type unprobed struct{ player.Workload }

func (u unprobed) Run(ctx context.Context, s *player.Stage) error {
	defer func() { s.Keys = nil }()
	return u.Workload.Run(ctx, s)
}

// stage exchanges something before the clients begin.
func stage(f func(*player.Stage)) func(*harness.Config) {
	return func(cfg *harness.Config) { cfg.Seams.Stage = f }
}

// instead puts something in the place of all faults of a kind.
func instead(kind histories.F, f func(nemesis.Fault) nemesis.Fault) func(*harness.Config) {
	return stage(func(s *player.Stage) {
		s.Nemesis.Alter = func(sound nemesis.Fault) nemesis.Fault {
			if sound.F == kind {
				return f(sound)
			}
			return sound
		}
	})
}

// never is a fault that only says that it happened.
func never(f nemesis.Fault) nemesis.Fault {
	say := func(context.Context) (string, error) { return "it was so", nil }
	f.Start = say
	if f.Stop != nil {
		f.Stop = say
	}
	return f
}

// atOnce is a fault that is healed as soon as it has begun, and says nothing of that.
func atOnce(f nemesis.Fault) nemesis.Fault {
	start, stop := f.Start, f.Stop
	f.Start = func(ctx context.Context) (string, error) {
		seen, err := start(ctx)
		if err == nil {
			_, err = stop(ctx)
		}
		return seen, err
	}
	f.Stop = func(context.Context) (string, error) { return "it was so until now", nil }
	return f
}

// servers exchanges what the faults see of the deployment.
func servers(f func(*embedded.Cluster) any) func(*harness.Config) {
	return stage(func(s *player.Stage) {
		s.Cluster = f(s.Cluster.(*embedded.Cluster)).(cluster.Cluster)
	})
}

// immortal is a deployment whose servers survive what kills them.
type immortal struct{ *embedded.Cluster }

func (immortal) Kill(context.Context, string) error { return nil }

// modest is a deployment whose replicas do not become masters.
type modest struct{ *embedded.Cluster }

func (modest) Promote(context.Context, string) error { return nil }

// without leaves out the steps of the script that are about that fault or condition.
func without(what string) func(*harness.Config) {
	return func(cfg *harness.Config) {
		script := cfg.Workload.(player.Script)
		script.Steps = slices.DeleteFunc(slices.Clone(script.Steps), func(p schedule.Step) bool { return p.What == what })
		cfg.Workload = script
	}
}

// yesMan is a lock that everybody gets, without asking anybody.
type yesMan struct{}

func (yesMan) Acquire(context.Context, string, time.Duration) (locks.Lease, error) {
	return yesMan{}, nil
}
func (yesMan) Release(context.Context) error { return nil }
func (yesMan) Token() int64                  { return 0 }
func (yesMan) Deadline() time.Time           { return time.Time{} }
