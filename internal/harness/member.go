package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// member is a client with its connections.
type member struct {
	*player.Client
	load  []func(context.Context) error // connects to one node
	conns []io.Closer
	// process is the member whose connections to the lock's servers this one uses, as a thread
	// of the same process. Nil: it is a process of its own.
	process *member
	clock   player.Clock   // of the process: its threads go by it too, and each stands still by itself besides
	worker  *worker.Client // the process, if it is one of its own
	env     locks.Env      // of its latest lock
}

// newMember makes worker of workers, without a lock.
func newMember(test Test, env environment, worker, workers int) *member {
	name := histories.WorkerName(worker)
	for _, node := range env.cluster.Nodes() {
		env.cluster.Link(name, node.Name) // reserves its time slots, in this order
	}
	view, gate, right := new(cluster.View), new(nemesis.Gate), env.clock()
	skew := player.NewSkew(right)
	ours := player.Gated(player.Skewed(right, skew), gate)
	var thread *nemesis.Gate
	if test.Threads > 1 && worker < test.Threads && env.fleet == nil {
		thread = new(nemesis.Gate)
	}
	return &member{clock: ours, Client: &player.Client{
		Name: name, Worker: worker, Workers: workers,
		Guard:    test.Guard,
		Clock:    player.Gated(ours, thread),
		Skew:     skew,
		Gate:     gate,
		Thread:   thread,
		View:     view,
		Recorder: env.recorder,
		Rand:     rand.New(rand.NewChaCha8(seed(test.Seed, worker, 0, 'w'))),
		Whim:     rand.New(rand.NewChaCha8(seed(test.Seed, worker, 0, 'e'))),
		Patience: right.After,
		Hangs:    env.hangs,
		// Longer than anything that a script holds up, so that no call gives up by itself.
		Timeout:    4*test.TTL + 5*time.Second,
		Extends:    test.Lock.Extends,
		ExtendAdds: test.Lock.Promises.ExtendAdds,
	}}
}

// sent is how many commands the member has sent to the lock's servers.
func (m *member) sent(servers cluster.Cluster) (n int) {
	for _, node := range servers.Nodes() {
		if node.Role != cluster.Register {
			n += servers.Link(m.Name, node.Name).Commands()
		}
	}
	return n
}

// host lets the client live in our process: it has one connection pool per shard and one
// for the register.
func (m *member) host(cfg Config, env environment) {
	if m.process == nil {
		m.Lock = m.newLock(cfg, env, 0)
		m.Renew = func() locks.Locker { return m.newLock(cfg, env, m.Life()) }
	} else {
		m.Lock = m.process.newThread(cfg.Test, env, m)
	}
	if m.Worker >= cfg.Threads {
		m.Sent = func() int { return m.sent(env.cluster) }
	}
	client := locks.NewClient(func(ctx context.Context) (net.Conn, error) {
		return env.cluster.Dial(ctx, m.Name, registerNode)
	})
	m.conns = append(m.conns, client)
	m.Register = make(map[string]*resource.Register)
	for _, key := range cfg.keys() {
		m.Register[key] = resource.NewRegister(client, key)
	}
	if !cfg.Backend.Virtual() || m.Worker < m.Workers-1 { // the prober has no section
		m.load = append(m.load, func(ctx context.Context) error {
			if m.Worker > 0 || cfg.Backend.Virtual() { // the scripts are there
				return client.Ping(ctx).Err()
			}
			return m.Register[cfg.keys()[0]].Load(ctx) // their scripts are the same
		})
	}
	if c, ok := m.Lock.(locks.Connector); ok {
		m.load = append(m.load, c.Connect)
	}
}

// newLock makes the lock of a client's life. Once that is over the lock cannot reach anybody.
func (m *member) newLock(cfg Config, env environment, life int) locks.Locker {
	reach := func(ctx context.Context, node string) (net.Conn, error) {
		if m.Life() != life {
			return nil, fmt.Errorf("client %s has crashed", m.Name)
		}
		return env.cluster.Dial(ctx, m.Name, node)
	}
	dial := func(ctx context.Context, shard int) (net.Conn, error) {
		return reach(ctx, m.View.Primary(env.cluster, shard))
	}
	var shards []*locks.Client
	for i := range cfg.Lock.Masters {
		var shard *locks.Client
		if i == 0 && cfg.Sentinels > 0 {
			shard = failoverClient(env.cluster, reach)
		} else {
			shard = locks.NewClient(func(ctx context.Context) (net.Conn, error) { return dial(ctx, i) })
		}
		m.conns = append(m.conns, shard)
		shards = append(shards, shard)
		m.load = append(m.load, func(ctx context.Context) error {
			if m.Worker > 0 || cfg.Backend.Virtual() { // the scripts are there
				return shard.Ping(ctx).Err()
			}
			return locks.Load(ctx, shard)
		})
	}
	m.env = locks.Env{
		Nodes:    shards,
		Dial:     dial,
		Clock:    m.Clock,
		NewClock: func() locks.Clock { return m.newClock(env) },
		Rand:     locks.NewSource(seed(cfg.Seed, m.Worker, life, 't')),
		Client:   identity(cfg.Test, m.Worker, life),
		Thread:   1, // the only thread of its process
	}
	if cfg.Lock.PerProcess { // it serves those, too, that do not stand still with this thread
		m.env.Clock = m.clock
	}
	return m.make(cfg.Lock, m.env)
}

// newClock makes a clock for one more goroutine of the member's process.
func (m *member) newClock(env environment) player.Clock {
	return player.Gated(player.Skewed(env.clock(), m.Skew), m.Gate)
}

// make makes a lock that ends with the member.
func (m *member) make(spec locks.Spec, env locks.Env) locks.Locker {
	lock := spec.New(env)
	if c, ok := lock.(io.Closer); ok {
		m.conns = append([]io.Closer{c}, m.conns...) // before the clients that it uses
	}
	return lock
}

// newThread makes the lock of another thread of the member's process: the process's own, if
// it serves all threads, or else one on the same connections.
func (m *member) newThread(test Test, env environment, thread *member) locks.Locker {
	if test.Lock.PerProcess {
		return m.Lock
	}
	own := m.env
	own.Clock = player.Gated(m.newClock(env), thread.Thread)
	own.Rand = locks.NewSource(seed(test.Seed, thread.Worker, 0, 't'))
	own.Thread = int64(thread.Worker) + 1
	return m.make(test.Lock, own)
}

// identity is what the lock's users would call the client of a worker's life.
func identity(test Test, worker, life int) string {
	if test.Lock.ClientName != nil {
		return test.Lock.ClientName(worker)
	}
	r := rand.NewChaCha8(seed(test.Seed, worker, life, 'i'))
	return fmt.Sprintf("%016x-%016x", r.Uint64(), r.Uint64())
}

// warm connects to every node, one after another. The first member sends the scripts ahead.
func (m *member) warm(ctx context.Context) error {
	for _, load := range m.load {
		if err := m.within(ctx, 10*time.Second, load); err != nil {
			return err
		}
	}
	return nil
}

func (m *member) within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, m.Clock.In(limit))
	defer cancel()
	return f(ctx)
}

func (m *member) close() error {
	var errs []error
	for _, c := range m.conns {
		errs = append(errs, m.closeSoon(c))
	}
	return errors.Join(errs...)
}
