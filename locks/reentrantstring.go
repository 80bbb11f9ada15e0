package locks

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

func reentrantStringSpec() Spec {
	return Spec{
		Name:       "reentrant-string",
		Title:      "script: SET of the holder and its count, for the longer TTL; script: DEL at 1",
		Source:     "C, written anew",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Extends:    true,
		Reenters:   true,
		Promises:   Promises{NeverShortens: true},
		New:        newReentrantString,
	}
}

// newReentrantString returns the lock reentrant-string: the key holds its holder and how often
// that holds it, as "3 holder". The holder is Env.Client:Env.Thread.
//
//	acquire  a script: if key is absent or the holder's: SET the count plus 1 with the longer
//	         of what is left and the TTL
//	release  a script: nil if key is not the holder's; at 1: DEL; else SET the count minus 1
//	         for what is left
//	extend   a script: if key is the holder's and PTTL is less: PEXPIRE
//
// Source: C 可重入锁, written anew: a second lock of reentrant-hash-keep's class, by which
// re-entrant locks are measured.
//
// Sound under the assumptions of reentrant-hash-keep. As there, an acquire that is sent again
// counts twice (P33).
func newReentrantString(env Env) Locker { return &reentrantString{env: env, holder: holderID(env)} }

type reentrantString struct {
	env    Env
	holder string
}

func (r *reentrantString) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	deadline, err := r.enter(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	return &stringLease{lock: r, key: key, deadline: deadline}, nil
}

// enter acquires or re-enters, and returns the deadline of that.
func (r *reentrantString) enter(ctx context.Context, key string, ttl time.Duration) (time.Time, error) {
	if err := CheckInput(key, ttl); err != nil {
		return time.Time{}, err
	}
	// Read before a byte is sent, see single.Acquire.
	deadline := r.env.Clock.Now().Add(ttl)
	count, err := stringAcquireScript.run(ctx, r.env.Nodes[0], []string{key}, r.holder, ttl.Milliseconds())
	if err == nil && count == 0 {
		err = ErrTaken
	}
	return deadline, err
}

func (r *reentrantString) Count(ctx context.Context, key string) (int64, error) {
	value, err := r.env.Nodes[0].Get(ctx, key).Result()
	count, holder, _ := strings.Cut(value, " ")
	switch {
	case errors.Is(err, redis.Nil), err == nil && holder != r.holder:
		return 0, nil
	case err != nil:
		return 0, err
	}
	return strconv.ParseInt(count, 10, 64)
}

func (r *reentrantString) leave(ctx context.Context, key string) error {
	_, err := stringReleaseScript.run(ctx, r.env.Nodes[0], []string{key}, r.holder)
	if errors.Is(err, redis.Nil) {
		return ErrNotHeld
	}
	return err
}

func (r *reentrantString) prolong(ctx context.Context, key string, ttl time.Duration) error {
	extended, err := stringExtendScript.run(ctx, r.env.Nodes[0], []string{key}, r.holder, ttl.Milliseconds())
	if err == nil && extended == 0 {
		return ErrNotHeld
	}
	return err
}

// stringLease is one acquire or re-entry. It is safe for concurrent use.
type stringLease struct {
	lock *reentrantString
	key  string

	mu       sync.Mutex
	deadline time.Time
	over     bool // given back or lost for certain
}

// Release gives one acquire back. A lease that was given back is not sent again: that would
// give back the outer one.
func (l *stringLease) Release(ctx context.Context) error {
	if l.ended() {
		return ErrNotHeld
	}
	err := l.lock.leave(ctx, l.key)
	if err == nil || errors.Is(err, ErrNotHeld) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
	}
	return err
}

// Extend makes the lock last for ttl from now at least. The deadlines of other leases of the
// holder do not move with it.
func (l *stringLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := CheckInput(l.key, ttl); err != nil {
		return err
	}
	if l.ended() {
		return ErrNotHeld
	}
	deadline := l.lock.env.Clock.Now().Add(ttl)
	err := l.lock.prolong(ctx, l.key, ttl)
	l.mu.Lock()
	defer l.mu.Unlock()
	// The lease never gets shorter, and so an answer that is missing takes nothing away.
	if err == nil && deadline.After(l.deadline) {
		l.deadline = deadline
	}
	return err
}

func (l *stringLease) Token() int64 { return 0 }

func (l *stringLease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline
}

func (l *stringLease) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}
