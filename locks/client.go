package locks

import (
	"context"
	"net"

	"github.com/redis/go-redis/v9"
)

// Client is a connection pool to one Redis server.
type Client = redis.Client

// NewClient returns a client of one Redis server whose connections come from dial.
//
// The deadline of a call's context bounds that call, dialing included. go-redis does
// not look at a plain cancellation while it waits for a reply: give every call a
// deadline. Close ends whatever is still under way; the caller must close the client.
func NewClient(dial func(ctx context.Context) (net.Conn, error)) *redis.Client {
	return redis.NewClient(ClientOptions(dial))
}

// ClientOptions returns the options of the clients that NewClient returns. They are the caller's to
// change.
func ClientOptions(dial func(ctx context.Context) (net.Conn, error)) *redis.Options {
	opt := clientOptions()
	// A dial is part of the call that needs it, see lazyConn.
	opt.Dialer = func(context.Context, string, string) (net.Conn, error) {
		return newLazyConn(dial), nil
	}
	return opt
}

// poolSize is how many commands a client can have under way. The pool is never exhausted, since the timers of those who wait for a
// connection are shared by the whole process, and one that was made in virtual time crashes the next run that meets it. A
// process has MostThreads at most, each with a call and what goes on behind it. A larger pool costs each client its making.
const poolSize = 2 * (MostThreads + 4)

// MostThreads is how many threads can share a client.
const MostThreads = 60

// clientOptions are what all clients have in common.
func clientOptions() *redis.Options {
	opt := &redis.Options{
		// RESP2: no push frames to drain between commands.
		Protocol: 2,
		PoolSize: poolSize,
		// No connection is opened in the background.
		MinIdleConns: 0,
		// No connection is closed because of its age.
		ConnMaxIdleTime: -1,
		// A lost reply stays visible: a resent SET NX would meet its own key.
		MaxRetries: -1,
		// No time-outs of the client's own: the context's deadline is the only one.
		ReadTimeout:           -1,
		WriteTimeout:          -1,
		ContextTimeoutEnabled: true,
	}
	setNewer(opt)
	setDialsOnce(opt)
	return opt
}
