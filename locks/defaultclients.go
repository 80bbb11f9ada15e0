package locks

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// newDefaultClient returns a client with the default options of go-redis, as most users
// of a lock library have it: replies are waited for 5 s whatever the context's deadline
// says, and a command without a reply is sent up to three times again.
// contextTimeout sets ContextTimeoutEnabled: the deadline counts.
//
// It differs from the defaults in what virtual time and replays need, see NewClient. The
// caller must close it.
func newDefaultClient(dial func(ctx context.Context) (net.Conn, error), contextTimeout bool) *redis.Client {
	// The first step of the default back-off. Later ones are drawn from a source that no
	// seed decides about.
	const backoff = 10 * time.Millisecond
	opt := &redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return newLazyConn(dial), nil
		},
		Protocol:              2,
		PoolSize:              poolSize,
		MinRetryBackoff:       backoff,
		MaxRetryBackoff:       backoff,
		ContextTimeoutEnabled: contextTimeout,
	}
	setNewer(opt)
	return redis.NewClient(opt)
}

// defaultClients are one default client per master. They are the Connector of the locks
// that do without Env.Nodes.
type defaultClients []*redis.Client

func newDefaultClients(env Env, contextTimeout bool) defaultClients {
	clients := make(defaultClients, len(env.Nodes))
	for i := range clients {
		clients[i] = newDefaultClient(func(ctx context.Context) (net.Conn, error) {
			return env.Dial(ctx, i)
		}, contextTimeout)
	}
	return clients
}

// Connect sends PING to every master, one after another.
func (c defaultClients) Connect(ctx context.Context) error {
	for _, client := range c {
		if err := client.Ping(ctx).Err(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes all clients.
func (c defaultClients) Close() error {
	var errs []error
	for _, client := range c {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// overDefaultClients is a lock with clients of its own, of default options.
type overDefaultClients struct {
	Locker
	defaultClients
}

// defaulterOverDefaultClients is one that can be acquired without a TTL.
type defaulterOverDefaultClients struct {
	*overDefaultClients
	defaulter Defaulter
}

func (d *defaulterOverDefaultClients) AcquireDefault(ctx context.Context, key string) (Lease, error) {
	return d.defaulter.AcquireDefault(ctx, key)
}

// OverDefaultClients returns a lock over clients of its own in place of those in env: with the
// default options of go-redis, as most users of a lock library have them. A command without a
// reply is sent up to three times again. contextTimeout sets ContextTimeoutEnabled: without it
// replies are waited for 5 s, whatever the context's deadline says.
//
// The lock is a Connector.
func OverDefaultClients(env Env, contextTimeout bool, lock func(Env) Locker) Locker {
	clients := newDefaultClients(env, contextTimeout)
	env.Nodes = clients
	over := &overDefaultClients{lock(env), clients}
	if d, ok := over.Locker.(Defaulter); ok {
		return &defaulterOverDefaultClients{over, d}
	}
	return over
}
