package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func hsetexSpec() Spec {
	return Spec{
		Name:       "hsetex",
		Title:      "HSETEX FNX PX; compare-and-delete script",
		Source:     "Redis HSETEX",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "setnx-px-lua",
		Extends:    true,
		HasToken:   true,
		Commands:   []Command{hsetexCommand()},
		Promises:   Promises{ReleasesRefused: true},
		New:        newHSetEx,
	}
}

// newHSetEx returns the lock hsetex: setnx-px-lua in a field of a hash, whose time to live is the
// lease. The key has none of its own, and is gone with its last field.
//
//	acquire  HSETEX key FNX PX milliseconds FIELDS 1 owner token
//	release  a script that deletes the field if its value is the own token
//	extend   a script that sets the field again, with a new TTL, if its value is the own token
//	verify   HGET key owner
//
// Its scripts are sent in full each time, so that there is nothing that a server could forget (P57).
//
// Source: Redis documentation, HSETEX (8.0), which Valkey has since 9.0.
//
// Sound as setnx-px-lua, and broken as it is. Where somebody else keeps a value of another type
// under the key (P53) the acquire fails, too, and does not say that the lock is taken. A server whose
// memory is full refuses the HSETEX that extends, where it lets PEXPIRE pass: the lease is then not
// extended, and can be released.
func newHSetEx(env Env) Locker {
	return &single{
		env: env,
		acquire: func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
			set, err := node.Do(ctx, "HSETEX", key, "FNX", "PX", ttl.Milliseconds(), "FIELDS", 1, "owner", token).Int64()
			if err == nil && set == 0 {
				return 0, ErrTaken
			}
			return 0, err
		},
		release: func(ctx context.Context, node *redis.Client, key, token string) error {
			return deleted(node.Eval(ctx, compareAndHDel, []string{key}, token).Int64())
		},
		verify: func(ctx context.Context, node *redis.Client, key, token string) error {
			return holds(node.HGet(ctx, key, "owner"), token)
		},
		extend: func(ctx context.Context, l *singleLease, ttl time.Duration) error {
			return extendWith(l, ttl, func() error {
				return extended(l.lock.env.Nodes[0].Eval(ctx, compareAndHSetEx, []string{l.key}, l.token, ttl.Milliseconds()).Int64())
			})
		},
	}
}

// compareAndHDel answers the number of fields that it removed.
//
//	KEYS[1] the lock, a hash   ARGV[1] the holder's token
const compareAndHDel = `if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
  return redis.call('HDEL', KEYS[1], 'owner')
end
return 0
`

// compareAndHSetEx gives a field that its holder still has a new TTL. It answers 1, or 0 if the field
// is gone or another's, which is then left alone.
//
//	KEYS[1] the lock, a hash   ARGV[1] the holder's token
//	                           ARGV[2] the TTL in milliseconds
const compareAndHSetEx = `if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
  return redis.call('HSETEX', KEYS[1], 'FXX', 'PX', ARGV[2], 'FIELDS', 1, 'owner', ARGV[1])
end
return 0
`
