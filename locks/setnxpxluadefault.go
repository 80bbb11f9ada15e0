package locks

import (
	"context"
	"time"
)

func setNXPXLuaDefaultSpec() Spec {
	return Spec{
		Name:       "setnx-px-lua-default",
		Title:      "setnx-px-lua with a lease of 30 s if nobody says for how long",
		Source:     "Redisson",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "setnx-px-lua",
		Extends:    true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true, WithoutTTL: true, DefaultTTL: defaultLease},
		New:        newSetNXPXLuaDefault,
	}
}

// newSetNXPXLuaDefault returns the lock setnx-px-lua-default: setnx-px-lua that can be acquired
// without a TTL, and then has one of 30 s, which is Redisson's default. Its commands are those of
// newSetNXPXLua.
//
// Sound under the assumptions of newSetNXPXLua. The lock is a Defaulter.
func newSetNXPXLuaDefault(env Env) Locker { return defaulter{newSetNXPXLua(env)} }

// defaultLease is for how long a lease lasts whose caller does not say for how long.
const defaultLease = 30 * time.Second

// defaulter is a lock whose leases last for defaultLease unless a TTL is given.
type defaulter struct{ Locker }

func (d defaulter) AcquireDefault(ctx context.Context, key string) (Lease, error) {
	return d.Acquire(ctx, key, defaultLease)
}
