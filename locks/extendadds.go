package locks

import (
	"context"
	"time"
)

func extendAddsSpec() Spec {
	return Spec{
		Name:     "extend-adds",
		Title:    "setnx-px-lua whose extend adds to what is left",
		Source:   "redis-py",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, ExtendAdds: true},
		New:      newExtendAdds,
	}
}

// newExtendAdds returns the lock extend-adds, whose extend adds to what is left of a lease.
//
//	acquire, release  as setnx-px-lua
//	extend            a script: if key's value is the own token, PTTL, and PEXPIRE by the sum
//
// Source: redis-py, Lock.extend without replace_ttl. There the lock tells no deadline; here
// it moves as the key's does. After an indefinite error it stays.
//
// Broken: a script that is executed twice adds twice. The key outlives every lease that anybody
// has asked for (P73). Otherwise as sound as setnx-px-lua.
func newExtendAdds(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = func(ctx context.Context, l *singleLease, ttl time.Duration) error {
		if err := lock.check(l.key, ttl); err != nil {
			return err
		}
		switch extended, err := env.Nodes[0].Eval(ctx, addPExpire, []string{l.key}, l.token, ttl.Milliseconds()).Int64(); {
		case err != nil:
			return err
		case extended == 0:
			return ErrNotHeld
		}
		l.deadline = l.deadline.Add(ttl)
		return nil
	}
	return lock
}

func extendAddsOnceSpec() Spec {
	return Spec{
		Name:       "extend-adds-once",
		Title:      "extend-adds whose client does the sum",
		Source:     "redis-py, repaired",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "extend-adds",
		Extends:    true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true, ExtendAdds: true},
		New:        newExtendAddsOnce,
	}
}

// newExtendAddsOnce returns the lock extend-adds-once: extend-adds whose client does the sum.
//
//	acquire, release  as setnx-px-lua
//	extend            the script of setnx-px-lua, with what is left of the deadline and the TTL
//
// A script that is executed twice sets the same TTL twice, a moment later.
//
// Sound under the assumptions of setnx-px-lua.
func newExtendAddsOnce(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.extend = func(ctx context.Context, l *singleLease, ttl time.Duration) error {
		if err := lock.check(l.key, ttl); err != nil {
			return err
		}
		left := max(0, l.deadline.Sub(env.Clock.Now())) + time.Millisecond - 1 // PEXPIRE cuts the rest of a millisecond off
		err := compareAndPExpire(ctx, env.Nodes[0], l.key, l.token, left+ttl)
		if err == nil {
			l.deadline = l.deadline.Add(ttl)
		}
		return err
	}
	return lock
}

// addPExpire adds to the TTL of a key that its holder still has. It answers 1, or 0 if
// the key is gone or another's, which is then left alone.
//
//	KEYS[1] the lock   ARGV[1] the holder's token
//	                   ARGV[2] the milliseconds to add
const addPExpire = `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + ARGV[2])
end
return 0
`
