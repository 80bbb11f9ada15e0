package locks_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locks/locktest"
)

// clock is the time of the goroutine that asks: virtual in a bubble, else the machine's.
type clock struct{}

func (clock) Now() time.Time                         { return time.Now() }
func (clock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// world is a locktest.World of masters that are reached by dialing.
type world struct {
	t     *testing.T
	nodes []func(ctx context.Context) (net.Conn, error)
	admin []*redis.Client // of the same nodes, for Inspect
	rand  func(client string) locks.Env
	tries int
}

func (w *world) Client(name string) locks.Env {
	env := w.rand(name)
	for _, dial := range w.nodes {
		client := locks.NewClient(dial)
		w.t.Cleanup(func() { _ = client.Close() })
		env.Nodes = append(env.Nodes, client)
	}
	return env
}

func (w *world) Sleep(d time.Duration) { time.Sleep(d) }
func (w *world) Tries() int            { return w.tries }

func (w *world) Inspect(key string) ([]locktest.Key, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	keys := make([]locktest.Key, len(w.admin))
	for i, node := range w.admin {
		value, err := node.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		ttl, err := node.PTTL(ctx, key).Result()
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		keys[i] = locktest.Key{Exists: true, Value: value, TTL: ttl}
	}
	return keys, nil
}

// latency is how long a message takes in virtual time, one way.
const latency = 3 * time.Millisecond

// inVirtualTime runs check against in-process servers in a bubble.
func inVirtualTime(masters int) func(*testing.T, func(locktest.World)) {
	return func(t *testing.T, check func(locktest.World)) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, tries: 1, rand: seeded}
			for range masters {
				m := miniredis.NewMiniRedis()
				m.ClockTTL(true)
				t.Cleanup(m.Close)
				w.nodes = append(w.nodes, func(context.Context) (net.Conn, error) {
					conn, err := m.Dial()
					return slowConn{conn}, err
				})
				admin := locks.NewClient(func(context.Context) (net.Conn, error) { return m.Dial() })
				t.Cleanup(func() { _ = admin.Close() })
				w.admin = append(w.admin, admin)
			}
			check(w)
		})
	}
}

// seeded makes tokens from the client's name.
func seeded(client string) locks.Env {
	var seed [32]byte
	copy(seed[:], client)
	return locks.Env{Clock: clock{}, Rand: mathrand.NewChaCha8(seed)}
}

// slowConn delays every message by latency, each way.
type slowConn struct{ net.Conn }

func (c slowConn) Write(b []byte) (int, error) {
	time.Sleep(latency)
	return c.Conn.Write(b)
}

func (c slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	time.Sleep(latency)
	return n, err
}

// onRealServers runs check against redis-server processes.
func onRealServers(masters int) func(*testing.T, func(locktest.World)) {
	return func(t *testing.T, check func(locktest.World)) {
		path := locktest.NeedRedis(t)
		t.Parallel()
		w := &world{t: t, tries: 5, rand: func(string) locks.Env {
			return locks.Env{Clock: clock{}, Rand: rand.Reader}
		}}
		for range masters {
			dial := startRedis(t, path)
			w.nodes = append(w.nodes, dial)
			admin := locks.NewClient(dial)
			t.Cleanup(func() { _ = admin.Close() })
			w.admin = append(w.admin, admin)
		}
		check(w)
	}
}
