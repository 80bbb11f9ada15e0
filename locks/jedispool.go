package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// borrowTimeout is A 3.1's setMaxWaitMillis: how long a thread waits for a connection.
const borrowTimeout = 100 * time.Second

// jedisPool is the pool of A 3.1, which all threads of a process share. Who borrows a connection and does not
// give it back has taken it from all of them.
type jedisPool struct {
	node  *redis.Client
	taken chan struct{} // one value for each connection that is in use
}

func newJedisPool(env Env, size int) *jedisPool {
	return &jedisPool{node: env.Nodes[0], taken: make(chan struct{}, size)}
}

// getResource returns a connection that is free, and has answered PING (setTestOnBorrow). One that does not answer
// is closed, and the next one asked.
func (p *jedisPool) getResource(ctx context.Context) (connection, error) {
	ctx, cancel := context.WithTimeout(ctx, borrowTimeout)
	defer cancel()
	select {
	case p.taken <- struct{}{}:
	case <-ctx.Done():
		return connection{}, fmt.Errorf("no connection of the pool's %d became free: %w", cap(p.taken), context.Cause(ctx))
	}
	conn := connection{p.node.Conn()}
	err := conn.Ping(ctx).Err()
	if err != nil {
		_ = conn.Close() // the next one is asked
		conn = connection{p.node.Conn()}
		err = conn.Ping(ctx).Err()
	}
	if err != nil {
		p.close(conn)
		return connection{}, err
	}
	return conn, nil
}

// close gives a connection back.
func (p *jedisPool) close(conn connection) {
	_ = conn.Close() // whether the client wants it back does not matter to the lock
	<-p.taken
}
