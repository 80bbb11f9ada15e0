package explore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// stranger is a lock that nobody has written a scenario for. What a mistake does not replace is that of a sound one.
type stranger struct {
	env     locks.Env
	mistake mistake
	cached  map[string]*strangerLease // by key: what the client has held
}

type mistake struct {
	name    string
	fences  bool // it has fencing tokens
	acquire func(ctx context.Context, s *stranger, l *strangerLease) error
	release func(ctx context.Context, l *strangerLease) error
	extend  func(ctx context.Context, l *strangerLease, ttl time.Duration) error
}

type strangerLease struct {
	lock       *stranger
	node       *redis.Client
	key, token string
	ttl        time.Duration
	deadline   time.Time
	fence      int64 // fencing token; 0: none
}

func (s *stranger) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if err := locks.CheckInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := locks.NewToken(s.env.Rand)
	if err != nil {
		return nil, err
	}
	l := &strangerLease{lock: s, node: s.env.Nodes[0], key: key, token: token, ttl: ttl, deadline: s.env.Clock.Now().Add(ttl)}
	acquire := s.mistake.acquire
	if acquire == nil {
		acquire = func(ctx context.Context, _ *stranger, l *strangerLease) error { return l.take(ctx, l.ttl) }
	}
	if err := acquire(ctx, s, l); err != nil {
		return nil, err
	}
	return l, nil
}

// take is the sound acquire.
func (l *strangerLease) take(ctx context.Context, ttl time.Duration) error {
	ok, err := l.node.SetNX(ctx, l.key, l.token, ttl).Result()
	if err == nil && !ok {
		return locks.ErrTaken
	}
	return err
}

func (l *strangerLease) Release(ctx context.Context) error {
	if l.lock.mistake.release != nil {
		return l.lock.mistake.release(ctx, l)
	}
	return l.own(ctx, `return redis.call('DEL', KEYS[1])`)
}

func (l *strangerLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := locks.CheckInput(l.key, ttl); err != nil {
		return err
	}
	deadline := l.lock.env.Clock.Now().Add(ttl)
	extend := l.lock.mistake.extend
	if extend == nil {
		extend = func(ctx context.Context, l *strangerLease, ttl time.Duration) error {
			return l.own(ctx, `return redis.call('PEXPIRE', KEYS[1], ARGV[2])`, ttl.Milliseconds())
		}
	}
	if err := extend(ctx, l, ttl); err != nil {
		return err
	}
	l.deadline = deadline
	return nil
}

// own runs a script if the key is still the lease's.
func (l *strangerLease) own(ctx context.Context, script string, args ...any) error {
	n, err := l.node.Eval(ctx, `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end `+script, []string{l.key}, append([]any{l.token}, args...)...).Int()
	if err == nil && n == 0 {
		return locks.ErrNotHeld
	}
	return err
}

func (l *strangerLease) Token() int64        { return l.fence }
func (l *strangerLease) Deadline() time.Time { return l.deadline }

// mistakes are eighteen, of which no scenario has one.
func mistakes() []mistake {
	return []mistake{
		{name: "gives back what was not its own", release: func(ctx context.Context, l *strangerLease) error {
			value, err := l.node.GetDel(ctx, l.key).Result()
			switch {
			case errors.Is(err, redis.Nil):
				return locks.ErrNotHeld
			case err == nil && value != l.token:
				return errors.Join(locks.ErrNotHeld, l.node.Set(ctx, l.key, value, 0).Err()) // and so it never ends
			}
			return err
		}},
		{name: "takes what is about to end", acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error {
			err := l.take(ctx, l.ttl)
			if !errors.Is(err, locks.ErrTaken) {
				return err
			}
			left, err := l.node.PTTL(ctx, l.key).Result()
			if err != nil || left > l.ttl/5 {
				return errors.Join(locks.ErrTaken, err)
			}
			return l.node.Set(ctx, l.key, l.token, l.ttl).Err()
		}},
		{name: "renews the lease that is in its way", acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error {
			err := l.take(ctx, l.ttl)
			if errors.Is(err, locks.ErrTaken) {
				return errors.Join(err, l.node.PExpire(ctx, l.key, l.ttl).Err())
			}
			return err
		}},
		{name: "moves the key away to look at it", release: func(ctx context.Context, l *strangerLease) error {
			aside := l.key + ":" + l.token
			if err := l.node.Rename(ctx, l.key, aside).Err(); err != nil {
				return errors.Join(locks.ErrNotHeld, err)
			}
			value, err := l.node.Get(ctx, aside).Result()
			if err == nil && value != l.token {
				return errors.Join(locks.ErrNotHeld, l.node.RenameNX(ctx, aside, l.key).Err())
			}
			return errors.Join(err, l.node.Del(ctx, aside).Err())
		}},
		{name: "asks for twice the lease", acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error { return l.take(ctx, 2*l.ttl) }},
		{name: "remembers that it had the lock", acquire: func(ctx context.Context, s *stranger, l *strangerLease) error {
			if before := s.cached[l.key]; before != nil && s.env.Clock.Now().Before(before.deadline) {
				*l = *before
				return nil
			}
			err := l.take(ctx, l.ttl)
			if err == nil {
				s.cached[l.key] = l
			}
			return err
		}},
		{name: "goes by the clocks of clients", acquire: func(ctx context.Context, s *stranger, l *strangerLease) error {
			until := l.deadline.Format(time.RFC3339Nano)
			l.token = until + " " + l.token
			err := l.take(ctx, l.ttl)
			if !errors.Is(err, locks.ErrTaken) {
				return err
			}
			value, err := l.node.Get(ctx, l.key).Result()
			if err != nil {
				return errors.Join(locks.ErrTaken, err)
			}
			text, _, _ := strings.Cut(value, " ")
			if end, err := time.Parse(time.RFC3339Nano, text); err == nil && s.env.Clock.Now().After(end) {
				return l.node.Set(ctx, l.key, l.token, l.ttl).Err()
			}
			return locks.ErrTaken
		}},
		{name: "releases all that it has", release: func(ctx context.Context, l *strangerLease) error {
			keys, err := l.node.Keys(ctx, "*").Result()
			if err != nil {
				return err
			}
			return l.node.Del(ctx, keys...).Err()
		}},
		{name: "extends what is not there", extend: func(ctx context.Context, l *strangerLease, ttl time.Duration) error {
			return l.node.Set(ctx, l.key, l.token, ttl).Err()
		}},
		{name: "draws its fencing token when it has the lock", fences: true, acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error {
			err := l.take(ctx, l.ttl)
			if err == nil {
				l.fence, err = l.node.Incr(ctx, l.key+":fence").Result()
			}
			return err
		}},
		{name: "takes a refusal for a grant", acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error {
			ok, err := l.node.SetNX(ctx, l.key, l.token, l.ttl).Result()
			if err == nil && !ok {
				owner, err := l.node.Get(ctx, l.key).Result()
				if err == nil && owner != l.token {
					return locks.ErrTaken
				}
				return nil // whoever had it has it no more
			}
			return err
		}},
		{name: "looks whether there is a lease and takes what is gone", acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error {
			err := l.take(ctx, l.ttl)
			if !errors.Is(err, locks.ErrTaken) {
				return err
			}
			const gone = -2
			if left, err := l.node.PTTL(ctx, l.key).Result(); err != nil || left != gone {
				return errors.Join(locks.ErrTaken, err)
			}
			return l.node.Set(ctx, l.key, l.token, l.ttl).Err()
		}},
		{name: "counts leases in whole seconds", acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error {
			return l.take(ctx, max(time.Second, l.ttl.Truncate(time.Second)))
		}},
		{name: "extends leases by whole seconds", extend: func(ctx context.Context, l *strangerLease, ttl time.Duration) error {
			return l.own(ctx, `return redis.call('EXPIRE', KEYS[1], ARGV[2])`, max(1, int(ttl.Seconds())))
		}},
		{name: "extends leases for good", extend: func(ctx context.Context, l *strangerLease, _ time.Duration) error {
			return l.own(ctx, `return redis.call('PERSIST', KEYS[1])`)
		}},
		{name: "remembers that it was refused", acquire: func(ctx context.Context, s *stranger, l *strangerLease) error {
			if before := s.cached[l.key]; before != nil && s.env.Clock.Now().Before(before.deadline) {
				return locks.ErrTaken
			}
			err := l.take(ctx, l.ttl)
			if errors.Is(err, locks.ErrTaken) {
				s.cached[l.key] = l
			}
			return err
		}},
		{name: "has one lock for all keys", acquire: func(ctx context.Context, _ *stranger, l *strangerLease) error {
			l.key = "lock"
			return l.take(ctx, l.ttl)
		}},
		{name: "forgets to release", release: func(context.Context, *strangerLease) error { return nil }},
	}
}

// TestStrangers finds mistakes that no scenario is about, each within a search of one deviation.
func TestStrangers(t *testing.T) {
	effort.Long(t)
	for _, m := range mistakes() {
		spec := locks.Spec{
			Name: "stranger", Title: m.name, Masters: 1, Extends: true, HasToken: true, Fencing: m.fences,
			New: func(env locks.Env) locks.Locker {
				return &stranger{env: env, mistake: m, cached: map[string]*strangerLease{}}
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		var first *explore.Finding
		runs := 0
		_, err := explore.Explore(ctx, spec, explore.Options{
			Play: inProcess(), Depth: 1, Among: libraries.Catalogue(), Stranger: true, Jobs: 2,
			Found: func(f explore.Finding) {
				if first == nil {
					first = &f
				}
				cancel()
			},
			Done: func(_ string, n int) { runs = n },
		})
		cancel()
		if err != nil || first == nil {
			t.Errorf("a lock that %s: nothing was found in %d runs, %v", m.name, runs, err)
			continue
		}
		t.Logf("a lock that %s: %v after %d runs: %s", m.name, first.Broken, runs, first.Title())
	}
}
