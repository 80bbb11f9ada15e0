package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// Deployment is a World on one of the project's backends.
type Deployment struct {
	Spec     locks.Spec // of the lock whose clients it has
	Cluster  cluster.Cluster
	Masters  []string
	Clock    func() locks.Clock            // one more
	Rand     func(client string) io.Reader // of its tokens
	InBubble bool                          // see World.Virtual
	Sleeper  locks.Clock

	key string

	mu     sync.Mutex
	made   int // clients
	closes []func()
}

// On returns a World for a lock and a key on servers that are up. Its clocks and its source of tokens are to be set.
func On(c cluster.Cluster, spec locks.Spec, key string) *Deployment {
	w := &Deployment{Cluster: c, Spec: spec, key: key}
	for i := range spec.Masters {
		w.Masters = append(w.Masters, c.Primary(i))
	}
	return w
}

// Key is as World says.
func (w *Deployment) Key() string { return w.key }

// Virtual is as World says.
func (w *Deployment) Virtual() bool { return w.InBubble }

// Sleep is as World says.
func (w *Deployment) Sleep(d time.Duration) {
	_ = w.Sleeper.Sleep(context.Background(), d) // which never ends
}

// Cut is as World says.
func (w *Deployment) Cut(client string) { w.onLinks(client, (*wire.Link).Freeze) }

// Heal is as World says.
func (w *Deployment) Heal(client string) {
	w.onLinks(client, func(l *wire.Link) {
		l.Cut() // what was kept is lost
		l.Thaw()
		l.Heal()
	})
}

// LoseReplies is as World says.
func (w *Deployment) LoseReplies(client string) {
	w.onLinks(client, func(l *wire.Link) { l.DropReply(wire.Match{}, wire.Hang) })
}

func (w *Deployment) onLinks(client string, do func(*wire.Link)) {
	for _, node := range w.Masters {
		do(w.Cluster.Link(w.Host(client), node))
	}
}

// Client is as World says.
func (w *Deployment) Client(name string) locks.Env {
	w.mu.Lock()
	n := w.made
	w.mu.Unlock()
	client := fmt.Sprintf("%s-%d", name, n+1)
	if w.Spec.ClientName != nil {
		client = w.Spec.ClientName(n)
	}
	return w.Env(client)
}

// Env is the surroundings of the client of that very name.
func (w *Deployment) Env(client string) locks.Env {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	host := w.Host(client)
	env := locks.Env{
		Clock: w.Clock(), NewClock: w.Clock, Rand: w.Rand(client), Client: client, Thread: 1,
		Dial: func(ctx context.Context, node int) (net.Conn, error) {
			return w.Cluster.Dial(ctx, host, w.Masters[node])
		},
	}
	for i := range w.Masters {
		w.Cluster.Link(host, w.Masters[i]) // reserves its time slots, in this order
		client := locks.NewClient(func(ctx context.Context) (net.Conn, error) { return env.Dial(ctx, i) })
		w.closes = append(w.closes, func() { _ = client.Close() })
		env.Nodes = append(env.Nodes, client)
	}
	return env
}

// Host is what the cluster calls a client: others use the same servers at the same time.
func (w *Deployment) Host(client string) string { return client + " of " + w.key }

// Close takes down the clients.
func (w *Deployment) Close() {
	for _, f := range w.closes {
		f()
	}
}

// Inspect is as World says.
func (w *Deployment) Inspect(key string) ([]map[string]Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var all []map[string]Value
	for _, node := range w.Masters {
		found, err := w.inspect(ctx, node, key)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", node, err)
		}
		all = append(all, found)
	}
	return all, nil
}

func (w *Deployment) inspect(ctx context.Context, node, key string) (map[string]Value, error) {
	client := locks.NewClient(func(ctx context.Context) (net.Conn, error) { return w.Cluster.Dial(ctx, "inspector", node) })
	defer client.Close()
	names, err := client.Keys(ctx, "*"+key+"*").Result()
	if err != nil {
		return nil, err
	}
	found := map[string]Value{}
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
		ttl, err := timeToLive(ctx, client, kind, name)
		if err != nil {
			return nil, err
		}
		if ttl != -2 { // it has expired just now
			found[name] = Value{Type: kind, Text: text, TTL: ttl}
		}
	}
	return found, nil
}

// timeToLive is what PTTL answers, but of a hash that ends with its fields what is left to the last of them.
func timeToLive(ctx context.Context, client *redis.Client, kind, name string) (time.Duration, error) {
	ttl, err := client.PTTL(ctx, name).Result()
	if err != nil || ttl != -1 || kind != "hash" {
		return ttl, err
	}
	fields, err := client.HKeys(ctx, name).Result()
	if err != nil || len(fields) == 0 {
		return -2, err
	}
	ask := []any{"HPTTL", name, "FIELDS", len(fields)} // a go-redis that users may have does not know it
	for _, field := range fields {
		ask = append(ask, field)
	}
	left, err := client.Do(ctx, ask...).Int64Slice()
	switch {
	case redis.HasErrorPrefix(err, "unknown command"), slices.Contains(left, -1):
		return -1, nil
	case err != nil, slices.Max(left) < 0:
		return -2, err
	}
	return time.Duration(slices.Max(left)) * time.Millisecond, nil
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
		if len(lines) == 0 && err == nil {
			err = redis.Nil // its fields have ended
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

// drained is longer than anything that a lock leaves running behind a closed client.
const drained = time.Hour

// InVirtualTime runs check on embedded servers in a bubble of its own, and takes them down. rand returns the source of
// tokens of the client of a name, and standstill is for how long of real time virtual time may stand still. What check panics with is
// returned, and so is what stands in the way of virtual time. left tells where goroutines stand that check leaves behind.
func InVirtualTime(seed uint64, standstill time.Duration, spec locks.Spec, rand func(client string) io.Reader, check func(*Deployment)) (left string, err error) {
	err = sim.Run(seed, standstill, func(s *sim.World) error {
		c, err := embedded.New(s, cluster.Topology{Masters: spec.Masters, Replicas: spec.Replicas}, embedded.Options{})
		if err != nil {
			return err
		}
		for _, n := range c.Nodes() {
			if spec.AOF && n.Role != cluster.Register {
				if err := c.Persist(context.Background(), n.Name, cluster.FsyncAlways); err != nil {
					return errors.Join(err, c.Close())
				}
			}
		}
		w := On(c, spec, "orders/42")
		w.InBubble = true
		w.Clock = func() locks.Clock { return s.Source() }
		w.Sleeper = w.Clock()
		w.Rand = rand
		check(w)
		w.Close()
		w.Sleep(drained)
		return c.Close()
	})
	behind, ok := errors.AsType[*sim.LeftoverError](err)
	if !ok {
		return "", err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 1 {
		return behind.Stacks, err // and more than that
	}
	return behind.Stacks, nil
}
