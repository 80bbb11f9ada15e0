package locks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

func setXXKeepTTLSpec() Spec {
	return Spec{
		Name:     "set-xx-keepttl",
		Title:    "set-options that extends by SET with XX and KEEPTTL",
		Source:   "C",
		Masters:  1,
		Variant:  "set-options",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		Breaks: map[string]string{
			"extend":                         "P74: KEEPTTL keeps what is left of the lease",
			"extend after expiry is refused": "P69: XX writes over the next holder's token",
		},
		New: newSetXXKeepTTL,
	}
}

// newSetXXKeepTTL returns the lock set-xx-keepttl, which takes a lock that it has once more.
//
//	acquire, release  as set-options
//	extend            SET key token XX KEEPTTL
//
// Source: C 不可重入锁, the options XX ("set it only if it exists") and KEEPTTL ("keep the time that
// it has to live"). They read as if they renewed a lock.
//
// Broken: XX asks whether there is a key and not whose it is, so that who comes late takes the
// lock from its next holder (P69). KEEPTTL keeps what is left, so that the lease which was
// extended ends when it would have ended (P74).
func newSetXXKeepTTL(env Env) Locker {
	lock := newSetOptions(env, SetOptions{})
	lock.extend = setXXKeepTTL
	return lock
}

func setXXKeepTTL(ctx context.Context, l *singleLease, ttl time.Duration) error {
	if err := l.lock.check(l.key, ttl); err != nil {
		return err
	}
	deadline := l.from(ttl)
	err := l.lock.env.Nodes[0].Do(ctx, "SET", l.key, l.token, "XX", "KEEPTTL").Err()
	switch {
	case errors.Is(err, redis.Nil):
		return ErrNotHeld
	case err != nil:
		return err
	}
	l.deadline = deadline
	return nil
}
