package locks_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// stand is one in-process server, and clients whose connections can go wrong. It belongs
// to one bubble.
type stand struct {
	t     *testing.T
	node  *faulty
	start time.Time

	mu   sync.Mutex
	sent []sent
}

// sent is a script that reached the server.
type sent struct {
	at     time.Duration
	script string
	key    string
}

// nameOfScript is the name of the script of that digest.
func nameOfScript(digest string) string {
	for name, source := range locks.Scripts() {
		if redis.NewScript(source).Hash() == digest {
			return name
		}
	}
	return ""
}

func newStand(t *testing.T) *stand {
	s := &stand{t: t, node: newFaulty(t), start: time.Now()}
	s.node.client(t) // the first connection makes the server
	s.node.Server().SetPreHook(func(_ *server.Peer, command string, args ...string) bool {
		if command == "EVALSHA" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sent = append(s.sent, sent{time.Since(s.start), nameOfScript(args[0]), args[2]})
		}
		return false
	})
	return s
}

// at returns when scripts of that name were sent for key.
func (s *stand) at(script, key string) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var at []time.Duration
	for _, c := range s.sent {
		if c.script == script && c.key == key {
			at = append(at, c.at)
		}
	}
	return at
}

// lock makes the lock for a client with a connection of its own.
func (s *stand) lock(client string, build func(locks.Env) locks.Locker) locks.Locker {
	return s.over(client, s.node.dial, build)
}

func (s *stand) over(client string, dial func(context.Context) (net.Conn, error), build func(locks.Env) locks.Locker) locks.Locker {
	s.t.Helper()
	env := seeded(client)
	node := locks.NewClient(dial)
	s.t.Cleanup(func() { _ = node.Close() })
	if err := locks.Load(s.t.Context(), node); err != nil {
		s.t.Fatal(err)
	}
	env.Nodes = []*redis.Client{node}
	lock := build(env)
	if c, ok := lock.(io.Closer); ok {
		s.t.Cleanup(func() { _ = c.Close() })
	}
	return lock
}

// link returns a wire and how to dial through it.
func (s *stand) link(client string) (*wire.Link, func(context.Context) (net.Conn, error)) {
	link := wire.NewLink(client, "m1", s.node.dial)
	s.t.Cleanup(link.Close)
	return link, func(context.Context) (net.Conn, error) {
		near, far := net.Pipe()
		go func() { _ = link.Serve(context.Background(), far) }() // ends with the connection
		return near, nil
	}
}

func (s *stand) acquire(lock locks.Locker, key string, ttl time.Duration) locks.Lease {
	s.t.Helper()
	held, err := lock.Acquire(s.t.Context(), key, ttl)
	if err != nil {
		s.t.Fatalf("acquire %s: %v", key, err)
	}
	return held
}

func (s *stand) release(held locks.Lease) {
	s.t.Helper()
	if err := held.Release(s.t.Context()); err != nil {
		s.t.Fatalf("release: %v", err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
