package locks

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

func luaSetNXExpireSpec() Spec {
	return Spec{
		Name:         "lua-setnx-expire",
		Title:        "script of SETNX and EXPIRE; DEL",
		Source:       "B",
		Masters:      1,
		WholeSeconds: true,
		Breaks: map[string]string{
			"foreign release is refused":         "P07: DEL takes the lock from its next holder",
			"bad input":                          "P28: a fraction of a second fails in the script, after SETNX",
			"interrupted acquire leaves nothing": "P26: an acquire whose reply was lost says that the lock is taken",
		},
		New: newLuaSetNXExpire,
	}
}

// newLuaSetNXExpire returns the lock lua-setnx-expire.
//
//	acquire  a script: SETNX key 1; if that answered 1: EXPIRE key seconds
//	release  DEL key
//
// Source: B 转, the listing: it logs an exception, and says false.
//
// Broken: DEL takes the lock from whoever holds it by then (P07). An acquire that fails for
// any reason says that the lock is taken, also if its reply was lost (P26). EXPIRE counts
// whole seconds, and the argument is not checked before: for a TTL of 1.5 s the script fails
// at EXPIRE, and the key that SETNX has set stays without a TTL (P28). B names that case and
// sets it aside.
func newLuaSetNXExpire(env Env) Locker {
	return &plain{env: env, acquire: orTaken(func(ctx context.Context, env Env, key string, ttl time.Duration) error {
		return setNXExpire(ctx, env.Nodes[0], key, one, ttl)
	})}
}

// setNXExpire runs the script of B 转: nil, ErrTaken, or an indefinite error. A TTL that is
// no whole number of seconds is such an error, and leaves a key without a TTL.
func setNXExpire(ctx context.Context, node *redis.Client, key, value string, ttl time.Duration) error {
	seconds := strconv.FormatFloat(ttl.Seconds(), 'f', -1, 64)
	_, err := setNXExpireScript.run(ctx, node, []string{key}, value, seconds)
	if errors.Is(err, redis.Nil) { // the script's false
		return ErrTaken
	}
	return err
}

// acceptWholeSeconds refuses a TTL that EXPIRE and EX cannot express.
func acceptWholeSeconds(ttl time.Duration) error {
	if ttl%time.Second != 0 {
		return &InputError{Field: "ttl", Value: ttl.String(), Want: "whole seconds, 1s or more"}
	}
	return nil
}
