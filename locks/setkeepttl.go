package locks

import "context"

func setKeepTTLSpec() Spec {
	return Spec{
		Name:     "set-keepttl",
		Title:    "set-options whose default is KEEPTTL, and is to be a lease of 30 s",
		Source:   "C, redis-py",
		Masters:  1,
		Variant:  "set-options",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, WithoutTTL: true, DefaultTTL: defaultLease},
		New:      newSetKeepTTL,
	}
}

// newSetKeepTTL returns the lock set-keepttl: set-options that can be acquired without a TTL, and is
// said to be free after 30 s then. Such an acquire keeps the TTL that the key has:
//
//	acquire  SET key token NX KEEPTTL
//
// redis-py's Lock has no end either if its timeout is not given, and documents it. Here callers count
// on a default.
//
// Broken: NX sets a key that was not there, and that had no TTL to keep. It has no end. Whoever dies
// with it keeps the lock for ever (P101).
//
// The lock is a Defaulter.
func newSetKeepTTL(env Env) Locker {
	return &keepTTL{newSetOptions(env, SetOptions{}), newSetOptions(env, SetOptions{Expiry: KeepTTL})}
}

type keepTTL struct {
	Locker
	byDefault *single
}

func (k *keepTTL) AcquireDefault(ctx context.Context, key string) (Lease, error) {
	return k.byDefault.Acquire(ctx, key, defaultLease)
}
