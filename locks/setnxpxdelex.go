package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

func setNXPXDelExSpec() Spec {
	return Spec{
		Name:       "setnx-px-delex",
		Title:      "SET NX PX; DELEX IFEQ",
		Source:     "Redis DELEX",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "setnx-px-lua",
		Extends:    true,
		HasToken:   true,
		Commands:   []Command{delexCommand()},
		Promises:   Promises{ReleasesRefused: true},
		New:        newSetNXPXDelEx,
	}
}

// newSetNXPXDelEx returns the lock setnx-px-delex: setnx-px-lua without scripts.
//
//	acquire  SET key token NX PX milliseconds
//	release  DELEX key IFEQ token
//	extend   SET key token IFEQ token PX milliseconds
//
// Source: Redis documentation, DELEX and SET, IFEQ, both since 8.4. A key that is gone equals
// nothing: DELEX answers 0 and SET nil, and neither makes it.
//
// Sound as setnx-px-lua, and broken as it is: what is compared on the server in one command is
// what its scripts compare. There is nothing that a server could forget (P57). A server whose
// memory is full refuses the SET that extends, where it lets PEXPIRE pass: the lease is then not
// extended, and can be released.
func newSetNXPXDelEx(env Env) Locker {
	lock := newSetNXPX(env, func(ctx context.Context, node *redis.Client, key, token string) error {
		return deleted(node.Do(ctx, "DELEX", key, "IFEQ", token).Int64())
	})
	lock.extend = extendIfEqual
	return lock
}

// extendIfEqual sends a SET that writes the own token over itself, with a new TTL.
func extendIfEqual(ctx context.Context, l *singleLease, ttl time.Duration) error {
	return extendWith(l, ttl, func() error {
		switch reply, err := l.lock.env.Nodes[0].Do(ctx, "SET", l.key, l.token, "IFEQ", l.token, "PX", ttl.Milliseconds()).Text(); {
		case errors.Is(err, redis.Nil):
			return ErrNotHeld
		case err != nil:
			return err
		case reply != "OK":
			return fmt.Errorf("SET answered %q, want OK or nil", reply)
		default:
			return nil
		}
	})
}
