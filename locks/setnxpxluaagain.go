package locks

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

func setNXPXLuaAgainSpec() Spec {
	return Spec{
		Name:       "setnx-px-lua-again",
		Title:      "setnx-px-lua that is sent once more, on the same connection, if that has failed",
		Source:     "D RedisUtil",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, the holder stops before its deadline, and no answer is lost on a connection that goes on",
		Masters:    1,
		Variant:    "setnx-px-lua",
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true},
		New:        newSetNXPXLuaAgain,
	}
}

// newSetNXPXLuaAgain returns the lock setnx-px-lua-again: setnx-px-lua in D's RedisUtil.
//
//	acquire  SET key token NX PX milliseconds; if that failed with an error of the connection,
//	         the same once more on the same connection
//	release  a script that deletes key if its value is the own token, once more in the same way
//
// Source: D RedisUtil, execute. Jedis goes on with a socket of which it has waited for an answer in vain for 2 s,
// and gives it up at the end.
//
// The retry helps against slow answers alone: what it reads is the answer to the first command. A connection that
// has broken is broken for the second command too, and execute throws. So it never meets its own key, as
// setnx-px-lua-resend does on another connection (P26).
//
// The lock is a Connector. It and its leases are safe for concurrent use.
func newSetNXPXLuaAgain(env Env) Locker {
	kept := &keptConn{dial: env.Nodes[0].Options().Dialer}
	u := &redisUtil{env: env, turn: make(chan struct{}, 1), kept: kept, jedis: NewClient(kept.get)}
	return &overRedisUtil{redisUtil: u, single: &single{
		env: env,
		acquire: func(ctx context.Context, _ *redis.Client, key, token string, ttl time.Duration) (int64, error) {
			return 0, u.execute(ctx, func(ctx context.Context, jedis *redis.Client) error {
				return setNXPX(ctx, jedis, key, token, ttl)
			})
		},
		release: func(ctx context.Context, _ *redis.Client, key, token string) error {
			return u.execute(ctx, func(ctx context.Context, jedis *redis.Client) error {
				return compareAndDelete(ctx, jedis, key, token)
			})
		},
	}}
}

type overRedisUtil struct {
	*redisUtil
	*single
}

// redisUtil is D's class of that name, with a pool of one connection.
type redisUtil struct {
	env   Env
	turn  chan struct{} // a mutex whose waiters virtual time does not stand still for
	kept  *keptConn
	jedis *redis.Client
}

// Connect opens the connection.
func (u *redisUtil) Connect(ctx context.Context) error { return u.jedis.Ping(ctx).Err() }

// Close closes the connection.
func (u *redisUtil) Close() error {
	err := u.jedis.Close()
	u.kept.close()
	return err
}

// execute calls caller, and once more on the same connection if that failed it.
func (u *redisUtil) execute(ctx context.Context, caller func(context.Context, *redis.Client) error) error {
	u.turn <- struct{}{}
	defer func() { <-u.turn }()
	err := u.call(ctx, caller)
	if err == nil || Classify(err) == Refused || isReply(err) || ctx.Err() != nil {
		return err
	}
	u.kept.again(true)
	defer u.kept.again(false)
	return u.call(ctx, caller)
}

// call bounds how long one answer is waited for.
func (u *redisUtil) call(ctx context.Context, caller func(context.Context, *redis.Client) error) error {
	ctx, cancel := withTimeout(ctx, u.env.Clock, jedisTimeout)
	defer cancel()
	return caller(ctx, u.jedis)
}

// isReply reports whether the server answered with an error.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// keptConn is a connection that its client does not close: one that dials again gets the same again, if it shall.
type keptConn struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu   sync.Mutex // dial is that of a lazyConn, which does not wait
	same bool
	conn net.Conn
}

// again reports whether who dials gets the same connection. The one that is there is given up when it no longer does.
func (k *keptConn) again(same bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.same = same
	if !same {
		k.drop()
	}
}

func (k *keptConn) get(ctx context.Context) (net.Conn, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.same && k.conn != nil {
		return unclosedConn{k.conn}, nil
	}
	conn, err := k.dial(ctx, "", "") // a lazyConn, which dials later
	if err != nil {
		return nil, err
	}
	k.drop()
	k.conn = conn
	return unclosedConn{conn}, nil
}

func (k *keptConn) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop()
}

func (k *keptConn) drop() {
	if k.conn != nil {
		_ = k.conn.Close() // nobody reads on
	}
	k.conn = nil
}

// unclosedConn shows the pool of go-redis whether the peer has hung up.
type unclosedConn struct{ net.Conn }

func (unclosedConn) Close() error { return nil }

func (c unclosedConn) SyscallConn() (syscall.RawConn, error) {
	if conn, ok := c.Conn.(syscall.Conn); ok {
		return conn.SyscallConn()
	}
	return nothingToSee{}, nil
}
