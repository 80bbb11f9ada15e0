package locks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/redis/process"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
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

// seeded makes tokens from the client's name.
func seeded(client string) locks.Env {
	var seed [32]byte
	copy(seed[:], client)
	return locks.Env{
		Clock: clock{}, NewClock: func() locks.Clock { return clock{} },
		Rand: mathrand.NewChaCha8(seed), Client: client, Thread: 1,
	}
}

func topology(spec locks.Spec) cluster.Topology {
	return cluster.Topology{Masters: spec.Masters, Replicas: spec.Replicas}
}

// world is a locktest.World on one of the project's backends.
type world struct {
	cluster cluster.Cluster
	masters []string
	clock   func() locks.Clock // one more
	rand    func(client string) io.Reader
	virtual bool
	sleeper locks.Clock
	key     string

	spec locks.Spec

	mu     sync.Mutex
	made   int // clients
	closes []func()
}

func newWorld(c cluster.Cluster, spec locks.Spec, key string) *world {
	w := &world{cluster: c, spec: spec, key: key}
	for i := range spec.Masters {
		w.masters = append(w.masters, c.Primary(i))
	}
	return w
}

func (w *world) Key() string           { return w.key }
func (w *world) Virtual() bool         { return w.virtual }
func (w *world) Sleep(d time.Duration) { _ = w.sleeper.Sleep(context.Background(), d) } // which never ends
func (w *world) Cut(client string)     { w.onLinks(client, (*wire.Link).Freeze) }

func (w *world) Heal(client string) {
	w.onLinks(client, func(l *wire.Link) {
		l.Cut() // what was kept is lost
		l.Thaw()
		l.Heal()
	})
}

func (w *world) LoseReplies(client string) {
	w.onLinks(client, func(l *wire.Link) { l.DropReply(wire.Match{}, wire.Hang) })
}

func (w *world) onLinks(client string, do func(*wire.Link)) {
	for _, node := range w.masters {
		do(w.cluster.Link(w.host(client), node))
	}
}

func (w *world) Client(name string) locks.Env {
	w.mu.Lock()
	n := w.made
	w.mu.Unlock()
	client := fmt.Sprintf("%s-%d", name, n+1)
	if w.spec.ClientName != nil {
		client = w.spec.ClientName(n)
	}
	return w.env(client)
}

// env is the surroundings of the client of that very name.
func (w *world) env(client string) locks.Env {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	host := w.host(client)
	env := locks.Env{
		Clock: w.clock(), NewClock: w.clock, Rand: w.rand(client), Client: client, Thread: 1,
		Dial: func(ctx context.Context, node int) (net.Conn, error) {
			return w.cluster.Dial(ctx, host, w.masters[node])
		},
	}
	for i := range w.masters {
		w.cluster.Link(host, w.masters[i]) // reserves its time slots, in this order
		client := locks.NewClient(func(ctx context.Context) (net.Conn, error) { return env.Dial(ctx, i) })
		w.closes = append(w.closes, func() { _ = client.Close() })
		env.Nodes = append(env.Nodes, client)
	}
	return env
}

// host is what the cluster calls a client: others use the same servers at the same time.
func (w *world) host(client string) string { return client + " of " + w.key }

// close takes down the clients.
func (w *world) close() {
	for _, f := range w.closes {
		f()
	}
}

func (w *world) Inspect(key string) ([]map[string]locktest.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var all []map[string]locktest.Value
	for _, node := range w.masters {
		found, err := w.inspect(ctx, node, key)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", node, err)
		}
		all = append(all, found)
	}
	return all, nil
}

func (w *world) inspect(ctx context.Context, node, key string) (map[string]locktest.Value, error) {
	client := locks.NewClient(func(ctx context.Context) (net.Conn, error) { return w.cluster.Dial(ctx, "inspector", node) })
	defer client.Close()
	names, err := client.Keys(ctx, "*"+key+"*").Result()
	if err != nil {
		return nil, err
	}
	found := map[string]locktest.Value{}
	for _, name := range names {
		kind, err := client.Type(ctx, name).Result()
		if err != nil {
			return nil, err
		}
		text, err := content(ctx, client, kind, name)
		if errors.Is(err, redis.Nil) {
			continue // it has expired just now
		}
		if err != nil {
			return nil, err
		}
		ttl, err := client.PTTL(ctx, name).Result()
		if err != nil {
			return nil, err
		}
		if ttl != -2 { // it has expired just now
			found[name] = locktest.Value{Type: kind, Text: text, TTL: ttl}
		}
	}
	return found, nil
}

func content(ctx context.Context, client *redis.Client, kind, name string) (string, error) {
	switch kind {
	case "none":
		return "", redis.Nil
	case "string":
		return client.Get(ctx, name).Result()
	case "hash":
		fields, err := client.HGetAll(ctx, name).Result()
		var lines []string
		for field, value := range fields {
			lines = append(lines, field+"="+value)
		}
		slices.Sort(lines)
		return strings.Join(lines, " "), err
	case "zset":
		members, err := client.ZRangeWithScores(ctx, name, 0, -1).Result()
		return fmt.Sprint(members), err
	case "set":
		members, err := client.SMembers(ctx, name).Result()
		slices.Sort(members)
		return fmt.Sprint(members), err
	default:
		return "", fmt.Errorf("key %s is a %s, and nobody knows how to show one", name, kind)
	}
}

// standstill is how long, in real time, a clause may take in virtual time.
const standstill = time.Minute

// drained is longer than anything that a lock leaves running behind a closed client.
const drained = time.Hour

// inVirtualTime runs check on embedded servers in a bubble.
func inVirtualTime(spec locks.Spec) func(*testing.T, func(locktest.World)) {
	return func(t *testing.T, check func(locktest.World)) {
		t.Helper()
		err := onEmbedded(spec, func(w *world) { check(w) })
		if err != nil {
			t.Error(err)
		}
	}
}

func onEmbedded(spec locks.Spec, check func(*world)) error {
	return sim.Run(1, standstill, func(s *sim.World) error {
		c, err := embedded.New(s, topology(spec), embedded.Options{})
		if err != nil {
			return err
		}
		w := newWorld(c, spec, "orders/42")
		w.virtual = true
		w.clock = func() locks.Clock { return s.Source() }
		w.sleeper = w.clock()
		w.rand = func(client string) io.Reader { return seeded(client).Rand }
		check(w)
		w.close()
		w.Sleep(drained)
		return c.Close()
	})
}

// servers are deployments of redis-server processes that many tests share.
type servers struct {
	mu   sync.Mutex
	made map[cluster.Topology]*process.Cluster
	keys int
}

func newServers(t testing.TB) *servers {
	locktest.NeedRedis(t)
	s := &servers{made: map[cluster.Topology]*process.Cluster{}}
	t.Cleanup(func() {
		for _, c := range s.made {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// world is a world for spec in a shared deployment, with a key that nobody else gets.
func (s *servers) world(t testing.TB, spec locks.Spec) *world {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	topo := topology(spec)
	if s.made[topo] == nil {
		c, err := process.New(context.Background(), topo, process.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.made[topo] = c
	}
	s.keys++
	w := newWorld(s.made[topo], spec, fmt.Sprintf("orders/%05d", s.keys))
	w.clock = func() locks.Clock { return clock{} }
	w.sleeper = clock{}
	w.rand = func(client string) io.Reader { return seeded(client).Rand }
	return w
}

// run runs check on real servers, beside others.
func (s *servers) run(spec locks.Spec) func(*testing.T, func(locktest.World)) {
	return func(t *testing.T, check func(locktest.World)) {
		t.Helper()
		t.Parallel()
		w := s.world(t, spec)
		defer w.close()
		check(w)
	}
}
