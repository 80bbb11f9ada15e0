package harness_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// TestWhoGetsNoAnswerAsksAgain breaks the connection of a client that is to be refused, before it is
// answered. It asks again on a new one; if no answer comes at all, nothing passes.
func TestWhoGetsNoAnswerAsksAgain(t *testing.T) {
	for lost, why := range map[int]string{0: "", 1: "", 2: "", 3: "B asked 3 times and got no answer"} {
		cfg := harness.Config{Output: harness.Output{CommandLog: true}, Test: harness.Test{
			Name: "asks-again", Lock: find(t, "setnx-px-lua"), TTL: 3 * time.Second, Seed: 1,
			Workload: script(t, 2, `A acquire; A read; B acquire; A write; A release`),
		}}
		cfg.Seams.Stage = func(s *player.Stage) {
			s.Done = func(_ context.Context, step schedule.Step) error {
				if step.Verb != schedule.Read { // the network breaks under B before it acquires
					return nil
				}
				for range lost { // each rule takes the next command on the key
					hold := s.Cluster.Link("B", s.Cluster.Primary(0)).HoldRequest(wire.Match{Keys: []string{harness.DefaultKey}})
					go func() {
						<-hold.Seen()
						hold.Drop() // and its connection
					}()
				}
				return nil
			}
		}
		res := run(t, cfg)
		unknown, refused, missed := 0, 0, ""
		for _, e := range res.Events {
			switch {
			case e.F == histories.Missed:
				missed = e.Value
			case e.Worker == 1 && e.F == histories.Acquire && e.Type == histories.Info:
				unknown++
			case e.Worker == 1 && e.F == histories.Acquire && e.Type == histories.Fail:
				refused++
			}
		}
		if want := min(lost, 3); unknown != want || (refused == 1) != (why == "") || !strings.Contains(missed, why) || (missed != "") != (why != "") {
			t.Errorf("%d commands lost: %d acquires unknown, %d refused, missed %q; want %d, and %q", lost, unknown, refused, missed, want, why)
		}
		got := res.Report.Result(checker.StrictExclusion).Verdict
		if want := map[bool]checker.Verdict{true: checker.Pass, false: checker.Unknown}[why == ""]; got != want {
			t.Errorf("%d commands lost: mutual exclusion is %v, want %v", lost, got, want)
		}
	}
}

// lasting is a lock whose leases end when it says.
type lasting struct {
	locks.Locker
	ends func() time.Time
}

func (l lasting) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, ttl)
	if err == nil {
		lease = lastingLease{lease, l.ends()}
	}
	return lease, err
}

type lastingLease struct {
	locks.Lease
	end time.Time
}

func (l lastingLease) Deadline() time.Time { return l.end }

// TestEndlessLeases checks that steps which wait for a lease do not wait for one that lasts 292
// years, nor for one of which nobody knows how long it lasts: they are not for such a lock.
func TestEndlessLeases(t *testing.T) {
	for _, step := range []string{"wait lease-ages A for 0.6T", "wait lease-ends A"} {
		for why, ends := range map[string]func(locks.Clock) time.Time{
			"lasts for another 2562047h":             func(c locks.Clock) time.Time { return c.Now().Add(1<<63 - 1) },
			"does not say when its lease ends":       func(locks.Clock) time.Time { return time.Time{} },
			"lasts for another 1m0s, and 1s was ask": func(c locks.Clock) time.Time { return c.Now().Add(time.Minute + time.Millisecond) },
		} {
			spec := find(t, "setnx-px-lua")
			inner := spec.New
			spec.New = func(env locks.Env) locks.Locker {
				return lasting{inner(env), func() time.Time { return ends(env.Clock) }}
			}
			res, err := harness.Run(t.Context(), harness.Config{Test: harness.Test{
				Name: "endless", Lock: spec, TTL: time.Second, Seed: 1,
				Workload: script(t, 1, "A acquire; "+step),
			}})
			if !harness.NotApplicable(err) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want that it %s", step, err, why)
			}
			if n := len(res.Events); n == 0 || res.Events[n-1].Time > 10*time.Second {
				t.Errorf("%s: the run has %d events, and went on for too long", step, n)
			}
		}
	}
}
