package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// single is a lock on one Redis instance whose key holds the token of its holder: two
// functions make it a family.
type single struct {
	env Env
	// acquire sets key to token for ttl. It returns the fencing token, if there is one.
	acquire func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error)
	release func(ctx context.Context, node *redis.Client, key, token string) error
	// verify asks whether key is the holder's still. Nil means by GET.
	verify func(ctx context.Context, node *redis.Client, key, token string) error
	// token makes the token of one attempt. Nil means 20 random bytes.
	token func(Env) (string, error)
	// accept refuses TTLs that the commands cannot express. Nil accepts every whole
	// number of milliseconds.
	accept func(ttl time.Duration) error
	// forever says that acquire sets no TTL, whatever it is given.
	forever bool
	// extend makes the leases Extenders. It gives key a new TTL, and moves the lease's deadline.
	extend func(ctx context.Context, l *singleLease, ttl time.Duration) error
}

// Acquire returns a *RefusedError if the lock is taken.
func (s *single) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := s.check(key, ttl); err != nil {
		return nil, err
	}
	token, err := s.newToken()
	if err != nil {
		return nil, err
	}
	// Read before a byte is sent: the server counts from later on, so that its
	// lease does not end before the one the holder is told.
	lease := &singleLease{lock: s, key: key, token: token, deadline: s.env.Clock.Now().Add(ttl)}
	lease.fence, err = s.acquire(ctx, s.env.Nodes[0], key, token, ttl)
	if s.forever {
		lease.deadline = time.Time{}
	}
	given := Lease(lease)
	if s.extend != nil {
		given = extendableLease{lease}
	}
	switch {
	case errors.Is(err, ErrTaken):
		return nil, &RefusedError{Lease: given, Err: err}
	case err != nil:
		return nil, err
	}
	return given, nil
}

func (s *single) check(key string, ttl time.Duration) error {
	if err := CheckInput(key, ttl); err != nil || s.accept == nil {
		return err
	}
	return s.accept(ttl)
}

func (s *single) newToken() (string, error) {
	if s.token != nil {
		return s.token(s.env)
	}
	return NewToken(s.env.Rand)
}

// singleLease is a lease on one Redis instance.
type singleLease struct {
	lock       *single
	key, token string
	fence      int64
	deadline   time.Time
}

func (l *singleLease) Release(ctx context.Context) error {
	return l.lock.release(ctx, l.lock.env.Nodes[0], l.key, l.token)
}

func (l *singleLease) Verify(ctx context.Context) error {
	if ask := l.lock.verify; ask != nil {
		return ask(ctx, l.lock.env.Nodes[0], l.key, l.token)
	}
	return verify(ctx, l.lock.env.Nodes[0], l.key, l.token)
}

func (l *singleLease) Token() int64        { return l.fence }
func (l *singleLease) Deadline() time.Time { return l.deadline }

// extendableLease is a singleLease that can be prolonged. It is not safe for concurrent
// use: Extend moves the deadline.
type extendableLease struct{ *singleLease }

func (l extendableLease) Extend(ctx context.Context, ttl time.Duration) error {
	return l.lock.extend(ctx, l.singleLease, ttl)
}

// extendOwn sends a script that gives key a new TTL if its value is the own token.
func extendOwn(ctx context.Context, l *singleLease, ttl time.Duration) error {
	return extendWith(l, ttl, func() error { return compareAndPExpire(ctx, l.lock.env.Nodes[0], l.key, l.token, ttl) })
}

// extendWith moves the lease's deadline as send tells, which gives key a new TTL if its value is
// the own token: nil, ErrNotHeld, or an indefinite error.
//
// After an indefinite error nobody knows whether the server did that: the deadline is
// then the earlier of the old one and the new.
func extendWith(l *singleLease, ttl time.Duration, send func() error) error {
	if err := l.lock.check(l.key, ttl); err != nil {
		return err
	}
	deadline := l.from(ttl)
	err := send()
	switch {
	case err == nil, Classify(err) == Indefinite && (l.deadline.IsZero() || deadline.Before(l.deadline)):
		l.deadline = deadline
	}
	return err
}

// from is the end of a lease of ttl that is about to be asked for, see single.Acquire.
func (l *singleLease) from(ttl time.Duration) time.Time { return l.lock.env.Clock.Now().Add(ttl) }

// compareAndPExpire gives key the TTL if it holds token: nil, ErrNotHeld, or an
// indefinite error.
func compareAndPExpire(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) error {
	return extended(compareAndPExpireScript.run(ctx, node, []string{key}, token, ttl.Milliseconds()))
}

// extended is what a script says that extends a lease: 0 is ErrNotHeld.
func extended(leases int64, err error) error {
	if err == nil && leases == 0 {
		return ErrNotHeld
	}
	return err
}

// getter is a client, or one connection of it.
type getter interface {
	Get(ctx context.Context, key string) *redis.StringCmd
}

// verify sends GET and compares: nil, ErrNotHeld, or an indefinite error.
func verify(ctx context.Context, node getter, key, token string) error {
	return holds(node.Get(ctx, key), token)
}

// holds says whether the value that is kept is the own token: nil, ErrNotHeld, or an indefinite error.
func holds(kept *redis.StringCmd, token string) error {
	switch value, err := kept.Result(); {
	case errors.Is(err, redis.Nil):
		return ErrNotHeld
	case err != nil:
		return err
	case value != token:
		return ErrNotHeld
	default:
		return nil
	}
}

// del sends DEL: nil if the key was there, else ErrNotHeld.
func del(ctx context.Context, node *redis.Client, key string) error {
	return deleted(node.Del(ctx, key).Result())
}

// deleted reads the number of keys that a release removed.
func deleted(keys int64, err error) error {
	switch {
	case err != nil:
		return err
	case keys == 0:
		return ErrNotHeld
	case keys == 1:
		return nil
	default:
		return fmt.Errorf("release removed %d keys, want 0 or 1", keys)
	}
}
