package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func watchdogRecreateSpec() Spec {
	return Spec{
		Name:     "watchdog-recreate",
		Title:    "watchdog whose renewal sets a key that is gone, and outlives the release",
		Source:   "mutant (redisson#7272)",
		Masters:  1,
		Variant:  "watchdog",
		Renews:   true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, BoundedHold: true},
		New:      newWatchdogRecreate,
	}
}

// newWatchdogRecreate returns the lock watchdog-recreate: watchdog whose renewal sets a key
// that is gone, and is not stopped while it is under way.
//
//	acquire, release  as watchdog
//	renew             every third of the TTL: a script that sets key's TTL if its value is
//	                  the own token, and sets key to it if there is none
//
// It is a mutant of watchdog: its renewal is that of redsync's SetNXOnExtend, and its
// release misses a renewal that is just under way, as Redisson's unlock misses one that is
// just being scheduled (redisson#7272).
//
// Broken: a renewal that the release has overtaken brings the key back, and goes on to
// renew it (P38).
func newWatchdogRecreate(env Env) Locker {
	return watchdogRecreate{newWatchdogWith(env, watchdogOptions{}).(*watchdog)} //nolint:forcetypeassert // it is one
}

type watchdogRecreate struct{ *watchdog }

func (w watchdogRecreate) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	lease, err := w.single.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	held := lease.(*singleLease)
	return &recreateLease{watchdogLease{
		singleLease: held,
		renewal: startRenewal(w.background, held.deadline, ttl, w.opt.maxHold(ttl), func(ctx context.Context, ttl time.Duration) error {
			return setOrPExpire(ctx, w.single.env.Nodes[0], key, held.token, ttl)
		}),
	}}, nil
}

// setOrPExpire gives key the TTL if it holds token, or nothing: nil, ErrNotHeld, or an
// indefinite error.
func setOrPExpire(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) error {
	extended, err := setOrPExpireScript.run(ctx, node, []string{key}, token, ttl.Milliseconds())
	if err == nil && extended == 0 {
		return ErrNotHeld
	}
	return err
}

// recreateLease is a lease that is renewed too eagerly.
type recreateLease struct{ watchdogLease }

func (l *recreateLease) Release(ctx context.Context) error {
	if l.renewal.r.calling.Load() {
		return l.singleLease.Release(ctx)
	}
	return l.watchdogLease.Release(ctx)
}
