package gate_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// mutant is a sound lock with one thing left out or wrong, which the gate must catch under
// its name, by a property that fits.
type mutant struct {
	name, of, scenario string
	property           checker.Property
	like               string                       // the lock of the catalogue that is so, or
	new                func(locks.Env) locks.Locker // what makes one
}

func mutants() []mutant {
	return []mutant{
		{"no check of the token", "setnx-px-lua", "P07", checker.Ownership, "setnx-px-del", nil},
		{"check and delete in two steps", "setnx-px-lua", "P08", checker.Ownership, "setnx-px-get-del", nil},
		{"no TTL", "setnx-px-lua", "P02", checker.DeadlockFreedom, "setnx", nil},
		{"TTL in a second step", "setnx-px-lua", "P02", checker.DeadlockFreedom, "setnx-expire", nil},
		{"TTL in the wrong unit", "setnx-px-lua", "P11", checker.LeaseHonoured, "", hasty},
		{"a deadline that is too late", "setnx-px-lua", "P11", checker.LeaseExclusion, "", hopeful},
		{"no NX", "setnx-px-lua", "P07", checker.LeaseExclusion, "", grabbing},
		{"a release that does nothing", "setnx-px-lua", "P02", checker.Availability, "", lazy},
		{"a refusal that is called done", "setnx-px-lua", "P07", checker.TruthfulReplies, "", smooth},
		{"a failed acquire that is called done", "setnx-px-lua", "P08", checker.StrictExclusion, "", boastful},
		{"always the same fencing token", "fenced", "P11", checker.ResourceSafety, "", monotonous},
		{"one node for the majority", "redlock", "P14", checker.StrictExclusion, "", lonely},
		{"release on one node", "redlock", "P02", checker.Availability, "", forgetful},
		{"no validity", "redlock", "P23", checker.StrictExclusion, "redlock-no-validity", nil},
		{"clean-up where OK was said", "redlock", "P24", checker.TruthfulReplies, "redlock-partial-cleanup", nil},
		{"GET before WATCH", "setnx-px-watch", "P09", checker.Ownership, "setnx-px-get-watch", nil},
		{"the reply of EXEC misread", "setnx-px-watch", "P10", checker.TruthfulReplies, "setnx-px-watch-misread", nil},
		{"the thread for the holder", "reentrant-hash", "P29", checker.StrictExclusion, "reentrant-hash-thread-id", nil},
		{"re-entry without asking", "reentrant-hash", "P30", checker.LeaseExclusion, "reentrant-local", nil},
		{"renewals a whole TTL apart", "watchdog", "P34", checker.StrictExclusion, "renew-naive", nil},
		{"renewal without ownership", "watchdog", "P37", checker.StrictExclusion, "", careless},
		{"one key for all readers", "rw-hash", "P40", checker.StrictExclusion, "rw-two-key", nil},
		{"one timestamp for all readers", "rw-hash", "P42", checker.StrictExclusion, "rw-hash-timestamp", nil},
		{"no intent of writers", "rw-hash", "P45", checker.Fairness, "rw-hash-timestamp", nil},
		{"a loop that gives up before its last try", "lua-uuid-repaired", "P48", checker.Availability, "lua-uuid-one-try", nil},
		{"tokens that begin alike", "bsm-redislock", "P55", checker.StrictExclusion, "bsm-redislock-custom-token", nil},
		{"a deadline by the client's clock", "rueidislock-px", "P56", checker.StrictExclusion, "rueidislock", nil},
	}
}

// catalogue has the mutant in the place of the lock that it was made of.
func (m mutant) catalogue(t *testing.T) locks.Catalogue {
	t.Helper()
	all := libraries.Catalogue()
	at := slices.IndexFunc(all, func(l locks.Spec) bool { return l.Name == m.of })
	if at < 0 {
		t.Fatalf("no lock %s", m.of)
	}
	if m.like == "" {
		all[at].New = m.new
		return all
	}
	like, err := all.Find(m.like)
	if err != nil {
		t.Fatal(err)
	}
	all[at] = like
	all[at].Name = m.of
	return all
}

// TestMutants puts each mutant in the place of the sound lock that it was made of.
func TestMutants(t *testing.T) {
	all := mutants()
	if len(all) < 12 {
		t.Errorf("%d mutants, want twelve or more", len(all))
	}
	for _, m := range all {
		t.Run(m.of+", "+m.name, func(t *testing.T) {
			res := play(t, gate.Options{Only: []string{m.scenario}, Locks: m.catalogue(t)})
			if out := res.Outcome(gate.Baseline{}); out != gate.Unexpected {
				t.Errorf("the gate is %v, want it red:\n%s", out, text(t, res))
			}
			caught := slices.ContainsFunc(res.Rows, func(r gate.Row) bool {
				return r.Lock == m.of && slices.ContainsFunc(r.Findings(), func(f gate.Finding) bool {
					return f.Property == m.property && f.Got == checker.Fail
				})
			})
			if !caught {
				t.Errorf("not caught by %s:\n%s", m.property, text(t, res))
			}
		})
	}
}

// twisted is a lock with another acquire.
type twisted struct {
	locks.Locker
	acquire func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error)
}

func (l twisted) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	return l.acquire(ctx, key, ttl)
}

// lease is a lease with something wrong: what is set takes the place of what is sound.
type lease struct {
	locks.Lease
	release  func(ctx context.Context) error
	deadline time.Time
	token    int64
}

func (l lease) Release(ctx context.Context) error {
	if l.release != nil {
		return l.release(ctx)
	}
	return l.Lease.Release(ctx)
}

func (l lease) Deadline() time.Time {
	if !l.deadline.IsZero() {
		return l.deadline
	}
	return l.Lease.Deadline()
}

func (l lease) Token() int64 {
	if l.token != 0 {
		return l.token
	}
	return l.Lease.Token()
}

// Verify is the sound lease's.
func (l lease) Verify(ctx context.Context) error { return l.Lease.(locks.Verifier).Verify(ctx) }

// leases changes what the acquires of a lock return.
func leases(lock locks.Locker, change func(ttl time.Duration, l *lease)) locks.Locker {
	return leasesOf(lock, func(_ string, ttl time.Duration, l *lease) { change(ttl, l) })
}

func leasesOf(lock locks.Locker, change func(key string, ttl time.Duration, l *lease)) locks.Locker {
	return twisted{lock, func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
		sound, err := lock.Acquire(ctx, key, ttl)
		if err != nil {
			return nil, err
		}
		l := lease{Lease: sound}
		change(key, ttl, &l)
		return l, nil
	}}
}

// made is the lock of that name, as it is.
func made(name string, env locks.Env) locks.Locker {
	spec, err := locks.All().Find(name)
	if err != nil {
		panic(err)
	}
	return spec.New(env)
}

// hasty sends seconds where milliseconds are wanted, and believes in the TTL that it meant.
func hasty(env locks.Env) locks.Locker {
	lock := made("setnx-px-lua", env)
	return twisted{lock, func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
		sound, err := lock.Acquire(ctx, key, ttl/1000)
		if err != nil {
			return nil, err
		}
		return lease{Lease: sound, deadline: env.Clock.Now().Add(ttl)}, nil
	}}
}

// hopeful tells its holder that the lease lasts twice as long as it does.
func hopeful(env locks.Env) locks.Locker {
	return leases(made("setnx-px-lua", env), func(ttl time.Duration, l *lease) { l.deadline = l.Deadline().Add(ttl) })
}

// grabbing takes the key away from its holder.
func grabbing(env locks.Env) locks.Locker {
	lock := made("setnx-px-lua", env)
	return twisted{lock, func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
		if err := env.Nodes[0].Del(ctx, key).Err(); err != nil {
			return nil, err
		}
		return lock.Acquire(ctx, key, ttl)
	}}
}

// lazy leaves its keys to their TTL.
func lazy(env locks.Env) locks.Locker {
	return leases(made("setnx-px-lua", env), func(_ time.Duration, l *lease) {
		l.release = func(context.Context) error { return nil }
	})
}

// smooth says that a release worked that was refused.
func smooth(env locks.Env) locks.Locker {
	return leases(made("setnx-px-lua", env), func(_ time.Duration, l *lease) {
		l.release = func(ctx context.Context) error {
			if err := l.Lease.Release(ctx); !errors.Is(err, locks.ErrNotHeld) {
				return err
			}
			return nil
		}
	})
}

// boastful takes the reply nil of SET NX for OK.
func boastful(env locks.Env) locks.Locker {
	lock := made("setnx-px-lua", env)
	return twisted{lock, func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
		sound, err := lock.Acquire(ctx, key, ttl)
		if errors.Is(err, locks.ErrTaken) {
			return nobodys(env.Clock.Now().Add(ttl)), nil
		}
		return sound, err
	}}
}

// nobodys is a lease that no server knows of.
type nobodys time.Time

func (nobodys) Release(context.Context) error { return locks.ErrNotHeld }
func (nobodys) Token() int64                  { return 0 }
func (n nobodys) Deadline() time.Time         { return time.Time(n) }

// monotonous gives everybody the token 1.
func monotonous(env locks.Env) locks.Locker {
	return leases(made("fenced", env), func(_ time.Duration, l *lease) { l.token = 1 })
}

// lonely asks the first master alone.
func lonely(env locks.Env) locks.Locker {
	env.Nodes = env.Nodes[:1]
	return made("redlock", env)
}

// forgetful releases on the first master alone.
func forgetful(env locks.Env) locks.Locker {
	return leases(made("redlock", env), func(_ time.Duration, l *lease) {
		l.release = func(ctx context.Context) error { return env.Nodes[0].Del(ctx, harness.DefaultKey).Err() }
	})
}

// careless renews whatever is under the key, whoever put it there, and tells nobody of a loss.
func careless(env locks.Env) locks.Locker {
	ctx, cancel := context.WithCancel(context.Background())
	lock := made("setnx-px-lua", env)
	return &renewing{cancel: cancel, Locker: leasesOf(lock, func(key string, ttl time.Duration, l *lease) {
		ctx, stop := context.WithCancel(ctx)
		clock, release := env.NewClock(), l.Lease.Release
		l.release = func(ctx context.Context) error {
			stop()
			return release(ctx)
		}
		go func() {
			for clock.Sleep(ctx, ttl/3) == nil {
				_ = env.Nodes[0].PExpire(ctx, key, ttl) // the next one may work
			}
		}()
	})}
}

// renewing is a lock whose leases are renewed until it is closed.
type renewing struct {
	locks.Locker
	cancel func()
}

func (r *renewing) Close() error {
	r.cancel()
	return nil
}

// Lost never happens.
func (lease) Lost() <-chan struct{} { return nil }
