package locks

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// sentinelTimeout bounds one question to a Sentinel, as nobody else does.
const sentinelTimeout = time.Second

// NewFailoverClient returns a client of the Redis server that Sentinels name as the master
// of that name, and of another one as soon as they name another. Its connections, those to
// the Sentinels too, come from dial, which is given the address that they announce.
//
// Else it is as NewClient says. It asks the Sentinels in goroutines and with timers of its
// own: it is for real time only.
func NewFailoverClient(master string, sentinels []string, dial func(ctx context.Context, addr string) (net.Conn, error)) *redis.Client {
	opt := clientOptions()
	failover := &redis.FailoverOptions{
		MasterName:    master,
		SentinelAddrs: sentinels,
		Dialer: func(_ context.Context, _, addr string) (net.Conn, error) {
			return newLazyConn(func(ctx context.Context) (net.Conn, error) { return dial(ctx, addr) }), nil
		},
		DialTimeout: sentinelTimeout,

		Protocol:              opt.Protocol,
		PoolSize:              opt.PoolSize,
		MinIdleConns:          opt.MinIdleConns,
		ConnMaxIdleTime:       opt.ConnMaxIdleTime,
		MaxRetries:            opt.MaxRetries,
		ReadTimeout:           opt.ReadTimeout,
		WriteTimeout:          opt.WriteTimeout,
		ContextTimeoutEnabled: opt.ContextTimeoutEnabled,
	}
	setNewer(failover)
	setDialsOnce(failover)
	return redis.NewFailoverClient(failover)
}
