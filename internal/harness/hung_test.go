package harness_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// obstinate is a lock that does something of its own once it was refused, and when it is closed.
type obstinate struct {
	locks.Locker
	refused func()
	close   func()
	mu      *sync.Mutex // held from an acquire to its release
}

func (o *obstinate) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if o.mu != nil {
		o.mu.Lock()
	}
	lease, err := o.Locker.Acquire(context.WithoutCancel(ctx), key, ttl)
	if err != nil && o.refused != nil {
		o.refused()
	}
	return lease, err
}

func (o *obstinate) Close() error {
	if o.close != nil {
		o.close()
	}
	return nil
}

// patientForEver is a lock that waits, asks again and again, and never looks at its context.
type patientForEver struct {
	*obstinate
	clock locks.Clock
}

func (p patientForEver) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	for {
		if lease, err := p.Locker.Acquire(context.WithoutCancel(ctx), key, ttl); err == nil {
			return lease, nil
		}
		if err := p.clock.Sleep(context.WithoutCancel(ctx), 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// ends plays steps in which B wants a key that A never gives back, on a lock made by wrap.
func ends(t *testing.T, backend harness.Backend, wrap func(locks.Locker, locks.Clock) locks.Locker) harness.Result {
	t.Helper()
	spec := find(t, "setnx") // has no TTL
	inner := spec.New
	spec.New = func(env locks.Env) locks.Locker { return wrap(inner(env), env.Clock) }
	cfg := harness.Config{Deployment: harness.Deployment{Backend: backend}, Test: harness.Test{
		Name: "obstinate", Lock: spec, TTL: time.Second, Seed: 1,
		Workload: script(t, 2, `A acquire; B acquire; A release; B acquire; B release`),
	}}
	if !backend.Virtual() {
		cfg.Seams.Stage = func(s *player.Stage) {
			for _, c := range append(s.Clients, s.Prober) {
				c.Timeout, c.Grace = 500*time.Millisecond, 500*time.Millisecond
			}
		}
	}
	return decides(t, cfg, checker.Availability)
}

// TestObstinateLocks plays locks that do not return, and wants each run to end, with what the
// lock does as a finding and where it stands as its evidence.
func TestObstinateLocks(t *testing.T) {
	var round atomic.Int64 // ends what computes without end, or it would be in the way of what follows
	for name, tc := range map[string]struct {
		wrap      func(locks.Locker, locks.Clock) locks.Locker
		where     string
		inVirtual checker.Verdict // of availability: Unknown if virtual time cannot move past it
	}{
		"never returns": {func(l locks.Locker, _ locks.Clock) locks.Locker {
			return &obstinate{Locker: l, refused: func() { select {} }}
		}, "harness_test.(*obstinate).Acquire (hung_test.go:", checker.Fail},
		"sleeps for 292 years": {func(l locks.Locker, _ locks.Clock) locks.Locker {
			return &obstinate{Locker: l, refused: func() { time.Sleep(math.MaxInt64) }}
		}, "harness_test.(*obstinate).Acquire (hung_test.go:", checker.Fail},
		"ignores its context": {func(l locks.Locker, clock locks.Clock) locks.Locker {
			return patientForEver{&obstinate{Locker: l}, clock}
		}, "harness_test.patientForEver.Acquire (hung_test.go:", checker.Fail},
		"panics": {func(l locks.Locker, _ locks.Clock) locks.Locker {
			return &obstinate{Locker: l, refused: func() { panic("no") }}
		}, "panicked: no", checker.Fail},
		"cannot be closed": {func(l locks.Locker, _ locks.Clock) locks.Locker {
			return &obstinate{Locker: l, close: func() { select {} }}
		}, "harness_test.(*obstinate).Close (hung_test.go:", checker.Fail},
		"computes without end": {func(l locks.Locker, _ locks.Clock) locks.Locker {
			mine := round.Load()
			return &obstinate{Locker: l, refused: func() {
				for mine == round.Load() {
				}
			}}
		}, "harness_test.(*obstinate).Acquire (hung_test.go:", checker.Unknown},
		"holds a mutex": {func() func(locks.Locker, locks.Clock) locks.Locker {
			var mu sync.Mutex
			return func(l locks.Locker, _ locks.Clock) locks.Locker { return &obstinate{Locker: l, mu: &mu} }
		}(), "harness_test.(*obstinate).Acquire (hung_test.go:", checker.Unknown},
	} {
		for _, backend := range []harness.Backend{harness.Embedded(), harness.Process()} {
			t.Run(name+" on "+backend.Name, func(t *testing.T) {
				defer round.Add(1)
				if tc.inVirtual == checker.Unknown {
					effort.Real(t) // until what stands still is given up
				}
				want := tc.inVirtual
				if !backend.Virtual() {
					locktest.NeedRedis(t)
					want = checker.Fail
				}
				res := ends(t, backend, tc.wrap)
				got := res.Report.Result(checker.Availability)
				if got.Verdict != want || !strings.Contains(got.Story, tc.where) {
					t.Errorf("availability %v, want %v with %q\n%s", got.Verdict, want, tc.where, got.Story)
				}
				for _, r := range res.Report.Results {
					if r.Verdict == checker.Pass {
						t.Errorf("%s passes in a run that was not played to its end", r.Property)
					}
				}
				if want == checker.Fail && (len(got.Witness) != 1 || res.Events[got.Witness[0]].F != histories.Hung) {
					t.Errorf("witness %v, want the call", got.Witness)
				}
			})
		}
	}
}
