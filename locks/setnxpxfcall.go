package locks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

func setNXPXFCallSpec() Spec {
	return Spec{
		Name:       "setnx-px-fcall",
		Title:      "SET NX PX; FCALL of a compare-and-delete function",
		Source:     "Redis FCALL",
		Sound:      true,
		Assumption: "the master keeps its keys, its functions and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "setnx-px-lua",
		Extends:    true,
		HasToken:   true,
		Commands:   []Command{fcallCommand()},
		Promises:   Promises{ReleasesRefused: true},
		New:        newSetNXPXFCall,
	}
}

// functionLibrary has the scripts compareAndDeleteScript and compareAndPExpireScript as functions.
// Without allow-oom a server whose memory is full refuses a function before it runs, even one that
// writes nothing: the lock could not be given back then.
const functionLibrary = `#!lua name=lockbench
redis.register_function{
  function_name = 'lockbench_release',
  flags = {'allow-oom'},
  callback = function(keys, args)
    if redis.call('GET', keys[1]) == args[1] then
      return redis.call('DEL', keys[1])
    end
    return 0
  end
}
redis.register_function{
  function_name = 'lockbench_extend',
  flags = {'allow-oom'},
  callback = function(keys, args)
    if redis.call('GET', keys[1]) == args[1] then
      return redis.call('PEXPIRE', keys[1], args[2])
    end
    return 0
  end
}
`

// newSetNXPXFCall returns the lock setnx-px-fcall: setnx-px-lua whose scripts are functions.
//
//	first    FUNCTION LOAD REPLACE of a library with both functions
//	acquire  SET key token NX PX milliseconds
//	release  FCALL of a function that deletes key if its value is the own token
//	extend   FCALL of a function that sets key's TTL if its value is the own token
//
// Source: Redis documentation, Redis functions and FCALL: a library is part of the database. It is
// kept with the data and replicated, so that whoever sets the server up loads it once and clients
// call it by name. The script cache is nothing of that (P57).
//
// Sound as setnx-px-lua, and broken as it is. What it adds is that somebody must have loaded the
// library: a server that comes back empty, or is told FUNCTION FLUSH, answers "Function not
// found". The lock does not load it again, and its leases last until they end: no client is
// wronged, and nobody can release.
//
// The lock is a Connector.
func newSetNXPXFCall(env Env) Locker {
	lock := newSetNXPX(env, releaseByFunction)
	lock.extend = extendByFunction
	return &withFunctions{single: lock}
}

// withFunctions is a lock that loads the library of functions before its first command.
type withFunctions struct {
	*single
	loaded atomic.Bool
}

// Connect loads the library.
func (f *withFunctions) Connect(ctx context.Context) error {
	if f.loaded.Load() {
		return nil
	}
	if err := f.env.Nodes[0].Do(ctx, "FUNCTION", "LOAD", "REPLACE", functionLibrary).Err(); err != nil {
		return err
	}
	f.loaded.Store(true)
	return nil
}

// Close does nothing: the library belongs to the server.
func (f *withFunctions) Close() error { return nil }

func (f *withFunctions) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := f.check(key, ttl); err != nil {
		return nil, err
	}
	if err := f.Connect(ctx); err != nil {
		return nil, err
	}
	return f.single.Acquire(ctx, key, ttl)
}

func releaseByFunction(ctx context.Context, node *redis.Client, key, token string) error {
	return deleted(node.Do(ctx, "FCALL", "lockbench_release", 1, key, token).Int64())
}

func extendByFunction(ctx context.Context, l *singleLease, ttl time.Duration) error {
	return extendWith(l, ttl, func() error {
		extended, err := l.lock.env.Nodes[0].Do(ctx, "FCALL", "lockbench_extend", 1, l.key, l.token, ttl.Milliseconds()).Int64()
		if err == nil && extended == 0 {
			return ErrNotHeld
		}
		return err
	})
}
