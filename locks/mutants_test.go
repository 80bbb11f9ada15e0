package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/contract"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// mutant is a sound lock with one thing wrong: what is set replaces what is sound.
type mutant struct {
	locks.Locker
	env     locks.Env
	acquire func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error)
	read    func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error)
	count   func(int64) int64
	held    locks.Lease // the latest
}

func (m *mutant) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if m.acquire != nil {
		return m.acquire(m, ctx, key, ttl)
	}
	return m.Locker.Acquire(ctx, key, ttl)
}

func (m *mutant) AcquireWrite(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	return m.Acquire(ctx, key, ttl)
}

func (m *mutant) AcquireRead(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if m.read != nil {
		return m.read(m, ctx, key, ttl)
	}
	return m.Locker.(locks.RWLocker).AcquireRead(ctx, key, ttl)
}

func (m *mutant) Count(ctx context.Context, key string) (int64, error) {
	n, err := m.Locker.(locks.Reentrant).Count(ctx, key)
	if m.count != nil {
		n = m.count(n)
	}
	return n, err
}

// Close is the sound lock's, if it has one.
func (m *mutant) Close() error {
	if c, ok := m.Locker.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}

// mutantLease is a lease with one thing wrong: what is set replaces the sound answer.
type mutantLease struct {
	locks.Lease
	release  func(ctx context.Context) error
	extend   func(ctx context.Context, ttl time.Duration) error
	verify   func(ctx context.Context) error
	lost     <-chan struct{}
	deadline time.Time
	token    int64
}

func (l *mutantLease) Release(ctx context.Context) error {
	if l.release != nil {
		return l.release(ctx)
	}
	return l.Lease.Release(ctx)
}

func (l *mutantLease) Extend(ctx context.Context, ttl time.Duration) error {
	if l.extend != nil {
		return l.extend(ctx, ttl)
	}
	return l.Lease.(locks.Extender).Extend(ctx, ttl)
}

func (l *mutantLease) Verify(ctx context.Context) error {
	if l.verify != nil {
		return l.verify(ctx)
	}
	return l.Lease.(locks.Verifier).Verify(ctx)
}

func (l *mutantLease) Lost() <-chan struct{} {
	if l.lost != nil {
		return l.lost
	}
	return l.Lease.(locks.Watched).Lost()
}

func (l *mutantLease) Deadline() time.Time {
	if !l.deadline.IsZero() {
		return l.deadline
	}
	return l.Lease.Deadline()
}

func (l *mutantLease) Token() int64 { return l.token }

type acquireFunc = func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error)

// request is what an acquire was asked for.
type request struct {
	key string
	ttl time.Duration
}

// lease changes what a sound acquire returned.
func lease(change func(m *mutant, l *mutantLease, r request)) func(*mutant) {
	return func(m *mutant) {
		m.acquire = func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
			sound, err := m.Locker.Acquire(ctx, key, ttl)
			if err != nil {
				return nil, err
			}
			l := &mutantLease{Lease: sound, token: sound.Token()}
			change(m, l, request{key, ttl})
			return l, nil
		}
	}
}

func acquire(f acquireFunc) func(*mutant) { return func(m *mutant) { m.acquire = f } }
func read(f acquireFunc) func(*mutant)    { return func(m *mutant) { m.read = f } }

// Every clause of the contract must be able to fail.
func TestContractCatchesMutants(t *testing.T) {
	never := make(chan struct{})
	mutants := []struct {
		name   string
		of     string
		breaks []string // among others
		spoil  func(*mutant)
	}{
		{
			"takes the lock from its holder", "setnx-px-lua",
			[]string{"mutual exclusion", "refusal"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				if err := m.env.Nodes[0].Del(ctx, key).Err(); err != nil {
					return nil, err
				}
				return m.Locker.Acquire(ctx, key, ttl)
			}),
		},
		{
			"lets everybody in", "setnx-px-lua",
			[]string{"mutual exclusion"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				return m.Locker.Acquire(ctx, key+m.env.Client, ttl)
			}),
		},
		{
			"sets no TTL", "setnx-px-lua",
			[]string{"expiry", "deadline is not after expiry"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if err != nil {
					return nil, err
				}
				return held, m.env.Nodes[0].Persist(ctx, key).Err()
			}),
		},
		{
			"sets the TTL afterwards", "setnx-px-lua",
			[]string{"interrupted acquire leaves nothing"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, time.Hour)
				if err != nil {
					return nil, err
				}
				return held, held.(locks.Extender).Extend(ctx, ttl)
			}),
		},
		{
			"calls every failure a refusal", "setnx-px-lua",
			[]string{"cancelled context", "interrupted acquire leaves nothing", "bad input"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if err != nil {
					return nil, locks.ErrTaken
				}
				return held, nil
			}),
		},
		{
			"calls a refusal a failure", "setnx-px-lua",
			[]string{"refusal"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if err != nil {
					return nil, errors.New("something went wrong")
				}
				return held, nil
			}),
		},
		{
			"counts its lease from a slow reply", "setnx-px-lua",
			[]string{"deadline is not after expiry"},
			lease(func(m *mutant, l *mutantLease, r request) {
				_ = m.env.Clock.Sleep(context.Background(), 5*time.Millisecond) // which never ends
				l.deadline = m.env.Clock.Now().Add(r.ttl)
			}),
		},
		{
			"says that every release worked", "setnx-px-lua",
			[]string{"foreign release is refused", "second release is refused"},
			lease(func(_ *mutant, l *mutantLease, _ request) {
				l.release = func(ctx context.Context) error { _ = l.Lease.Release(ctx); return nil }
			}),
		},
		{
			"never releases", "setnx-px-lua",
			[]string{"refusal", "second release is refused"},
			lease(func(_ *mutant, l *mutantLease, _ request) {
				l.release = func(context.Context) error { return nil }
			}),
		},
		{
			"releases for whoever is refused", "setnx-px-lua",
			[]string{"a refused client's release changes nothing"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				refused, ok := errors.AsType[*locks.RefusedError](err)
				if !ok {
					return held, err
				}
				release := func(ctx context.Context) error { return m.env.Nodes[0].Del(ctx, key).Err() }
				return nil, &locks.RefusedError{Lease: &mutantLease{Lease: refused.Lease, release: release}, Err: refused.Err}
			}),
		},
		{
			"hands out nothing to whoever is refused", "setnx-px-lua",
			[]string{"a refused client's release changes nothing", "capabilities are as promised"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if errors.Is(err, locks.ErrTaken) {
					err = locks.ErrTaken
				}
				return held, err
			}),
		},
		{
			"always verifies", "setnx-px-lua",
			[]string{"verify"},
			lease(func(_ *mutant, l *mutantLease, _ request) {
				l.verify = func(context.Context) error { return nil }
			}),
		},
		{
			"repeats its tokens", "fenced",
			[]string{"tokens increase"},
			lease(func(_ *mutant, l *mutantLease, _ request) { l.token = 7 }),
		},
		{
			"invents tokens", "setnx-px-lua",
			[]string{"no token"},
			lease(func(_ *mutant, l *mutantLease, _ request) { l.token = 7 }),
		},
		{
			"keeps quiet about what it can do", "setnx-px-lua",
			[]string{"capabilities are as promised"},
			func(*mutant) {}, // a mutant looks like an RWLocker
		},
		{
			"lets its holder in again", "setnx-px-lua",
			[]string{"no re-entry"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.Acquire(ctx, key, ttl)
				if errors.Is(err, locks.ErrTaken) && m.held != nil {
					return m.held, nil
				}
				m.held = held
				return held, err
			}),
		},
		{
			"gives everything back at the first release", "reentrant-hash",
			[]string{"re-entry"},
			lease(func(m *mutant, l *mutantLease, r request) {
				l.release = func(ctx context.Context) error { return m.env.Nodes[0].Del(ctx, r.key).Err() }
			}),
		},
		{
			"miscounts", "reentrant-hash",
			[]string{"re-entry"},
			func(m *mutant) { m.count = func(n int64) int64 { return min(n, 1) } },
		},
		{
			"lets readers exclude each other", "rw-hash",
			[]string{"readers and writers", "a reader's release keeps the others"},
			read(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				return m.Locker.Acquire(ctx, key, ttl)
			}),
		},
		{
			"lets writers share", "rw-hash",
			[]string{"readers and writers"},
			acquire(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				return m.Locker.(locks.RWLocker).AcquireRead(ctx, key, ttl)
			}),
		},
		{
			"releases all readers", "rw-hash",
			[]string{"a reader's release keeps the others"},
			read(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.(locks.RWLocker).AcquireRead(ctx, key, ttl)
				if err != nil {
					return nil, err
				}
				release := func(ctx context.Context) error { return m.env.Nodes[0].Del(ctx, key).Err() }
				return &mutantLease{Lease: held, release: release}, nil
			}),
		},
		{
			"reads for an hour", "rw-hash",
			[]string{"a reader's expiry frees the writer"},
			read(func(m *mutant, ctx context.Context, key string, _ time.Duration) (locks.Lease, error) {
				return m.Locker.(locks.RWLocker).AcquireRead(ctx, key, time.Hour)
			}),
		},
		{
			"gives all readers the TTL of the last", "rw-hash",
			[]string{"a reader's expiry keeps the others"},
			read(func(m *mutant, ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
				held, err := m.Locker.(locks.RWLocker).AcquireRead(ctx, key, ttl)
				if err != nil {
					return nil, err
				}
				return held, m.env.Nodes[0].PExpire(ctx, key, ttl).Err()
			}),
		},
		{
			"extends in words", "setnx-px-lua",
			[]string{"extend", "extend after expiry is refused"},
			lease(func(_ *mutant, l *mutantLease, _ request) {
				l.extend = func(context.Context, time.Duration) error { return nil }
			}),
		},
		{
			"extends its deadline alone", "setnx-px-lua",
			[]string{"extend"},
			lease(func(m *mutant, l *mutantLease, _ request) {
				l.extend = func(_ context.Context, ttl time.Duration) error {
					l.deadline = m.env.Clock.Now().Add(ttl)
					return nil
				}
			}),
		},
		{
			"brings a lost lease back", "setnx-px-lua",
			[]string{"extend after expiry is refused"},
			lease(func(m *mutant, l *mutantLease, r request) {
				l.extend = func(ctx context.Context, ttl time.Duration) error {
					err := l.Lease.(locks.Extender).Extend(ctx, ttl)
					if errors.Is(err, locks.ErrNotHeld) {
						_ = m.env.Nodes[0].Set(ctx, r.key, "mine", ttl).Err()
					}
					return err
				}
			}),
		},
		{
			"is not renewed", "setnx-px-lua",
			[]string{"renewal", "loss is told in time"},
			lease(func(_ *mutant, l *mutantLease, _ request) { l.lost = never }),
		},
		{
			"keeps its loss to itself", "watchdog",
			[]string{"loss is told in time"},
			lease(func(_ *mutant, l *mutantLease, _ request) { l.lost = never }),
		},
		{
			"cries wolf", "watchdog",
			[]string{"renewal", "renewal ends with release"},
			lease(func(_ *mutant, l *mutantLease, _ request) {
				lost := make(chan struct{})
				close(lost)
				l.lost = lost
			}),
		},
		{
			"renews what was released", "watchdog",
			[]string{"renewal ends with release"},
			lease(func(m *mutant, l *mutantLease, r request) {
				l.release = func(ctx context.Context) error {
					if err := l.Lease.Release(ctx); err != nil {
						return err
					}
					return m.env.Nodes[0].Set(ctx, r.key, "mine", r.ttl).Err()
				}
			}),
		},
	}

	caught := map[string]bool{}
	for _, mut := range mutants {
		t.Run(mut.name, func(t *testing.T) {
			spec, err := libraries.Catalogue().Find(mut.of)
			if err != nil {
				t.Fatal(err)
			}
			sound := spec.New
			spec.New = func(env locks.Env) locks.Locker {
				m := &mutant{Locker: sound(env), env: env}
				mut.spoil(m)
				return m
			}
			for _, name := range mut.breaks {
				clause := clauseNamed(t, name)
				inVirtualTime(spec)(t, func(w contract.World) {
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					err := clause.Check(ctx, spec, w)
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
	for _, clause := range contract.Clauses() {
		if !caught[clause.Name] {
			t.Errorf("clause %q has no mutant that breaks it", clause.Name)
		}
	}
}

func clauseNamed(t *testing.T, name string) contract.Clause {
	t.Helper()
	for _, clause := range contract.Clauses() {
		if clause.Name == name {
			return clause
		}
	}
	t.Fatalf("no clause %q", name)
	return contract.Clause{}
}
