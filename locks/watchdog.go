package locks

import (
	"context"
	"time"
)

// watchdogOptions are the options of the lock watchdog. The zero value means the defaults.
type watchdogOptions struct {
	// MaxHold is how long one lease is held at most, renewals included. A holder that hangs
	// while its process lives would otherwise be renewed for ever (P39). 0 means ten times
	// the lease's TTL; less than 0 means no bound. No lease is shorter than its TTL.
	MaxHold time.Duration
}

func watchdogSpec() Spec {
	return Spec{
		Name:       "watchdog",
		Title:      "setnx-px-lua, renewed by script every third of the TTL",
		Source:     "C, D (Redisson)",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops when it is told of the loss",
		Masters:    1,
		Renews:     true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true, BoundedHold: true},
		New:        newWatchdog,
	}
}

// newWatchdog returns the lock watchdog with the default options: setnx-px-lua whose
// leases are renewed in the background.
//
//	acquire  SET key token NX PX milliseconds
//	renew    every third of the TTL: a script that sets key's TTL if its value is the own token
//	release  a script that deletes key if its value is the own token
//
// Source: C 自动续期, D 业务超时锁已释放 and Redisson 超时问题.
//
// Leases are Watched: Lost is closed a tenth of the TTL before the deadline if renewals
// fail, at once if the key has gone, and when the total hold time ends. The deadline
// moves with every renewal that worked. Release stops the renewal, also if it fails; a
// renewal that arrives after it finds no key with the lease's token and does nothing
// (P38). A Lease is safe for concurrent use.
//
// The lock is an io.Closer: Close ends the renewal of every lease. Their keys expire by
// themselves.
//
// Sound under the assumptions of setnx-px-lua, if the holder stops when Lost is closed
// (P37) and does not stand still for longer than its TTL (P11).
func newWatchdog(env Env) Locker { return newWatchdogWith(env, watchdogOptions{}) }

func watchdogUncappedSpec() Spec {
	return Spec{
		Name:     "watchdog-uncapped",
		Title:    "watchdog without a bound on the total hold time",
		Source:   "D (Redisson)",
		Masters:  1,
		Variant:  "watchdog",
		Renews:   true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, BoundedHold: true},
		New:      newWatchdogUncapped,
	}
}

// newWatchdogUncapped returns the lock watchdog-uncapped: watchdog, as Redisson has it,
// without a bound on the total hold time.
//
// Broken: a holder that hangs while its process lives holds the lock for ever (P39).
func newWatchdogUncapped(env Env) Locker {
	return newWatchdogWith(env, watchdogOptions{MaxHold: -1})
}

// newWatchdogWith returns the lock watchdog with options.
func newWatchdogWith(env Env, opt watchdogOptions) Locker {
	return &watchdog{background: newBackground(env, 0), single: newSetNXPX(env, compareAndDelete), opt: opt}
}

type watchdog struct {
	*background
	single *single
	opt    watchdogOptions
}

func (w *watchdog) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	lease, err := w.single.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	held := lease.(*singleLease)
	return &watchdogLease{
		singleLease: held,
		renewal: startRenewal(w.background, held.deadline, ttl, w.opt.maxHold(ttl), func(ctx context.Context, ttl time.Duration) error {
			return compareAndPExpire(ctx, w.single.env.Nodes[0], key, held.token, ttl)
		}),
	}, nil
}

// maxHold is the bound for a lease of ttl, or 0 for none.
func (o watchdogOptions) maxHold(ttl time.Duration) time.Duration {
	switch {
	case o.MaxHold < 0:
		return 0
	case o.MaxHold == 0:
		return 10 * ttl
	default:
		return max(o.MaxHold, ttl)
	}
}

// watchdogLease is a lease that is renewed.
type watchdogLease struct {
	*singleLease
	renewal *renewal
}

func (l *watchdogLease) Release(ctx context.Context) error {
	l.renewal.stop()
	return l.singleLease.Release(ctx)
}

func (l *watchdogLease) Lost() <-chan struct{} { return l.renewal.lost }

func (l *watchdogLease) Deadline() time.Time {
	_, deadline := l.renewal.lease()
	return deadline
}
