package locks

import (
	"context"
	"net"

	"github.com/redis/go-redis/v9"
)

func setNXPXLuaUntimedSpec() Spec {
	return Spec{
		Name:     "setnx-px-lua-untimed",
		Title:    "setnx-px-lua whose client waits for a reply for ever",
		Source:   "redis-py#2243",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, Endless: true},
		New:      newSetNXPXLuaUntimed,
	}
}

// newSetNXPXLuaUntimed returns the lock setnx-px-lua-untimed: setnx-px-lua over a client without
// time-outs, which many clients of Redis are if nobody sets one: redis-py and node-redis, for
// example. Its commands are those of newSetNXPXLua.
//
// Broken: a call to a master that hangs does not return, and whoever called cannot give up (P95).
//
// The lock is a Connector.
func newSetNXPXLuaUntimed(env Env) Locker {
	clients := make(defaultClients, len(env.Nodes))
	for i := range clients {
		clients[i] = newUntimedClient(func(ctx context.Context) (net.Conn, error) { return env.Dial(ctx, i) })
	}
	env.Nodes = clients
	return &overDefaultClients{newSetNXPXLua(env), clients}
}

// newUntimedClient returns a client that looks neither at a call's deadline nor at a time-out of its
// own. The caller must close it.
func newUntimedClient(dial func(ctx context.Context) (net.Conn, error)) *redis.Client {
	opt := ClientOptions(dial)
	opt.ContextTimeoutEnabled = false
	return redis.NewClient(opt)
}
