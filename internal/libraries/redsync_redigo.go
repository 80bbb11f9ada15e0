package libraries

import (
	"context"
	"errors"
	"net"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"

	"github.com/lockbench/lockbench/locks"
)

func redsyncRedigoSpec() locks.Spec {
	return locks.Spec{
		Name:     "redsync-redigo",
		Title:    "redsync with redigo pools, whose calls have no time-out",
		Source:   "redsync v4.18.1",
		Masters:  5,
		Variant:  "redsync",
		Extends:  true,
		HasToken: true,
		Promises: locks.Promises{ReleasesRefused: true, Endless: true, WithoutTTL: true, DefaultTTL: redsyncDefault},
		New:      newRedsyncRedigo,
	}
}

// newRedsyncRedigo returns the lock redsync-redigo: redsync over N = len(env.Nodes) pools of
// github.com/gomodule/redigo v1.9.3, as the library's example has them: three idle connections and
// no time-outs. The commands are those of newRedsync; scripts are always sent as EVALSHA first.
//
// A connection whose server has gone away is noticed by the command that uses it, which fails.
//
// Broken: redigo waits for a reply for ever and does not look at the context of a call. One master
// that hangs keeps everybody from the lock until it answers (P25).
//
// The lock is a Connector, and must be closed.
func newRedsyncRedigo(env locks.Env) locks.Locker {
	clients := make(redigoPools, len(env.Nodes))
	pools := make([]redsyncredis.Pool, len(env.Nodes))
	for i := range clients {
		dial := redis.DialContextFunc(func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, i) })
		clients[i] = &redis.Pool{
			MaxIdle:     3,
			DialContext: func(ctx context.Context) (redis.Conn, error) { return redis.DialContext(ctx, "tcp", "", dial) },
		}
		pools[i] = redigo.NewPool(clients[i])
	}
	return &redsyncOverRedigo{redsyncLock{env: env, library: redsync.New(pools...), nodes: len(pools)}, clients}
}

// redsyncOverRedigo is redsync with connections of redigo.
type redsyncOverRedigo struct {
	redsyncLock
	redigoPools
}

// redigoPools are one pool for each master.
type redigoPools []*redis.Pool

// Connect sends PING to every master, one after another.
func (p redigoPools) Connect(ctx context.Context) error {
	for _, pool := range p {
		conn, err := pool.GetContext(ctx)
		if err != nil {
			return err
		}
		_, err = conn.Do("PING")
		if err = errors.Join(err, conn.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Close closes all idle connections.
func (p redigoPools) Close() error {
	var errs []error
	for _, pool := range p {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}
