package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locks/locktest"
)

// mutant is a sound lock with one thing wrong.
type mutant struct {
	locks.Locker
	env     locks.Env
	acquire func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error)
}

func (m mutant) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	return m.acquire(m, ctx, key, ttl)
}

// mutantLease is a lease with one thing wrong: what is set replaces the sound answer.
type mutantLease struct {
	locks.Lease
	release  func(ctx context.Context) error
	deadline time.Time
	token    int64
}

func (l mutantLease) Release(ctx context.Context) error {
	if l.release != nil {
		return l.release(ctx)
	}
	return l.Lease.Release(ctx)
}

func (l mutantLease) Verify(context.Context) error { return nil }

func (l mutantLease) Deadline() time.Time {
	if !l.deadline.IsZero() {
		return l.deadline
	}
	return l.Lease.Deadline()
}

func (l mutantLease) Token() int64 { return l.token }

// lease replaces what a sound acquire returned.
func lease(change func(m mutant, l *mutantLease, ttl time.Duration)) func(mutant, context.Context, string, time.Duration) (locks.Lease, error) {
	return func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
		sound, err := m.Locker.Acquire(ctx, key, ttl)
		if err != nil {
			return nil, err
		}
		l := &mutantLease{Lease: sound}
		change(m, l, ttl)
		return l, nil
	}
}

// Every clause of the contract must be able to fail.
func TestContractCatchesMutants(t *testing.T) {
	mutants := []struct {
		name    string
		of      string
		breaks  []string // among others
		acquire func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error)
	}{
		{
			"takes the lock from its holder", "setnx-px-lua",
			[]string{"mutual exclusion", "refusal"},
			func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				if err := m.env.Nodes[0].Del(ctx, key).Err(); err != nil {
					return nil, err
				}
				return m.Locker.Acquire(ctx, key, ttl)
			},
		},
		{
			"lets everybody in", "setnx-px-lua",
			[]string{"mutual exclusion"},
			func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key+m.env.Nodes[0].String(), ttl)
				if errors.Is(err, locks.ErrTaken) {
					return mutantLease{release: func(context.Context) error { return nil }, deadline: m.env.Clock.Now()}, nil
				}
				return held, err
			},
		},
		{
			"sets no TTL", "setnx-px-lua",
			[]string{"expiry", "deadline is not after expiry"},
			func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if err != nil {
					return nil, err
				}
				return held, m.env.Nodes[0].Persist(ctx, key).Err()
			},
		},
		{
			"calls every failure a refusal", "setnx-px-lua",
			[]string{"cancelled context", "bad input"},
			func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if err != nil {
					return nil, locks.ErrTaken
				}
				return held, nil
			},
		},
		{
			"calls a refusal a failure", "setnx-px-lua",
			[]string{"refusal"},
			func(m mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if err != nil {
					return nil, errors.New("something went wrong")
				}
				return held, nil
			},
		},
		{
			"counts its lease from the reply", "setnx-px-lua",
			[]string{"deadline is not after expiry"},
			lease(func(m mutant, l *mutantLease, ttl time.Duration) { l.deadline = m.env.Clock.Now().Add(ttl) }),
		},
		{
			"says that every release worked", "setnx-px-lua",
			[]string{"foreign release is refused", "second release is refused"},
			lease(func(_ mutant, l *mutantLease, _ time.Duration) {
				l.release = func(ctx context.Context) error { _ = l.Lease.Release(ctx); return nil }
			}),
		},
		{
			"never releases", "setnx-px-lua",
			[]string{"refusal", "second release is refused"},
			lease(func(_ mutant, l *mutantLease, _ time.Duration) {
				l.release = func(context.Context) error { return nil }
			}),
		},
		{
			"always verifies", "setnx-px-lua",
			[]string{"verify"},
			lease(func(mutant, *mutantLease, time.Duration) {}),
		},
		{
			"repeats its tokens", "fenced",
			[]string{"tokens increase"},
			lease(func(_ mutant, l *mutantLease, _ time.Duration) { l.token = 7 }),
		},
		{
			"invents tokens", "setnx-px-lua",
			[]string{"no token"},
			lease(func(_ mutant, l *mutantLease, _ time.Duration) { l.token = 7 }),
		},
	}

	caught := map[string]bool{}
	for _, mut := range mutants {
		t.Run(mut.name, func(t *testing.T) {
			spec, err := locks.Find(mut.of)
			if err != nil {
				t.Fatal(err)
			}
			sound := spec.New
			spec.New = func(env locks.Env) locks.Locker {
				return mutant{Locker: sound(env), env: env, acquire: mut.acquire}
			}
			for _, name := range mut.breaks {
				clause := clauseNamed(t, name)
				inVirtualTime(spec.Masters)(t, func(w locktest.World) {
					err := clause.Check(context.Background(), spec, w)
					if err == nil {
						t.Errorf("clause %q did not catch it", name)
						return
					}
					t.Logf("%s: %v", name, err)
				})
				caught[name] = true
			}
		})
	}
	for _, clause := range locktest.Clauses() {
		if !caught[clause.Name] {
			t.Errorf("clause %q has no mutant that breaks it", clause.Name)
		}
	}
}

func clauseNamed(t *testing.T, name string) locktest.Clause {
	t.Helper()
	for _, clause := range locktest.Clauses() {
		if clause.Name == name {
			return clause
		}
	}
	t.Fatalf("no clause %q", name)
	return locktest.Clause{}
}
