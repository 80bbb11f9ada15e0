package locks

import (
	"context"
	"time"
)

func watchdogUntoldSpec() Spec {
	return Spec{
		Name:     "watchdog-untold",
		Title:    "watchdog that does not tell its holder of a loss",
		Source:   "Redisson (redisson#4698)",
		Masters:  1,
		Variant:  "watchdog",
		Renews:   true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, BoundedHold: true},
		Breaks: map[string]string{
			"loss is told in time": "P37: the holder is not told of a loss",
		},
		New: newWatchdogUntold,
	}
}

// newWatchdogUntold returns the lock watchdog-untold: watchdog whose holder does not hear
// that its lease is lost.
//
//	acquire, renew, release  as watchdog
//
// Source: Redisson, which logs that a renewal failed and tells nobody (redisson#4698); and
// every holder that does not listen.
//
// Broken: a holder whose renewals do not arrive works on after its lease has ended (P37).
func newWatchdogUntold(env Env) Locker {
	return watchdogUntold{newWatchdogWith(env, watchdogOptions{}).(*watchdog)} //nolint:forcetypeassert // it is one
}

type watchdogUntold struct{ *watchdog }

func (w watchdogUntold) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	lease, err := w.watchdog.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	return untoldLease{lease.(*watchdogLease)}, nil
}

type untoldLease struct{ *watchdogLease }

// Lost is never closed.
func (untoldLease) Lost() <-chan struct{} { return nil }
