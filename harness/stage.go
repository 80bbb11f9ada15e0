package harness

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/worker"
	"github.com/lockbench/lockbench/workloads"
)

// registerNode is the node of the protected register on every backend.
const registerNode = "register"

// seen is a clock that tells what it shows.
func seen(clock func() time.Duration, tell func(time.Duration)) func() time.Duration {
	if tell == nil {
		return clock
	}
	return func() time.Duration {
		now := clock()
		tell(now)
		return now
	}
}

// stage sets up the clients and plays the workload and its epilogue.
func stage(ctx context.Context, cfg Config, env surroundings) (err error) {
	for _, k := range cfg.Nemesis {
		err := k.Needs(env.cluster)
		if err == nil && k.Try != nil {
			err = k.Try(ctx, env.cluster)
		}
		if err != nil {
			return &NeedsError{Nemesis: k.Name, Backend: cfg.Backend, Why: err}
		}
	}
	s := &workloads.Stage{
		Cluster:     env.cluster,
		Shards:      cfg.Lock.Masters,
		Nemesis:     nemesis.NewInjector(env.recorder),
		Recorder:    env.recorder,
		Clock:       env.clock(),
		Rand:        rand.New(rand.NewChaCha8(seed(cfg.Seed, histories.Nemesis, 0, 'n'))),
		Keys:        cfg.kept(cfg.Lock),
		TTL:         cfg.TTL,
		Slack:       cfg.slack() + cfg.Lock.Promises.Tolerance,
		Interrupted: env.interrupted,
		Hangs:       env.hangs,
	}
	if env.lookout != nil {
		s.Enough = env.lookout.enough
	}
	n := cfg.Workload.Clients()
	var members []*member
	defer func() {
		for _, m := range members {
			err = errors.Join(err, m.close())
		}
	}()
	ctx, cancel := context.WithCancel(ctx) // ends what waits for workers, and for losses of leases
	defer cancel()
	if len(cfg.Worker) > 0 {
		fleet, ferr := newFleet(ctx, cfg, env)
		if ferr != nil {
			return ferr
		}
		env.fleet = fleet
		s.Interrupted = func() error { return errors.Join(env.interrupted(), fleet.Err()) }
		defer func() { // before the gateways are closed, which the processes would see
			if err = errors.Join(err, fleet.Close()); fleet.Err() != nil && !errors.Is(err, fleet.Err()) {
				err = errors.Join(err, fleet.Err())
			}
		}()
	}
	for worker := range n + 1 { // the last is the prober
		m := newMember(cfg, env, worker, n+1)
		members = append(members, m)
		for _, node := range env.cluster.Nodes() {
			env.tape.heed(env.cluster.Link(m.Name, node.Name))
		}
		if 0 < worker && worker < cfg.Threads {
			m.process = members[0]
		}
		if env.fleet != nil {
			err = m.employ(ctx, cfg, env)
		} else {
			m.host(cfg, env)
			err = m.warm(ctx)
		}
		if err != nil {
			return fmt.Errorf("connect %s: %w", m.Name, err)
		}
		if worker < n {
			s.Clients = append(s.Clients, m.Client)
		} else {
			s.Prober = m.Client
		}
	}

	if env.fleet != nil {
		if s.Keys, err = members[n].keptByWorkers(ctx, cfg, env); err != nil {
			return err
		}
	}
	*env.keys = s.Keys

	// The run begins when everybody is connected: a first connection's set-up would
	// otherwise be what a fault hits.
	start := env.now()
	clock := func() time.Duration { return env.now() - start }
	env.recorder.Start(seen(clock, cfg.Seen))
	for _, m := range members {
		m.Now = clock
		for _, node := range env.cluster.Nodes() {
			env.tape.watch(m.Name, node.Name, env.cluster.Link(m.Name, node.Name), clock)
		}
	}
	env.album.watch(s, env, clock)
	defer env.sampler.start(clock)()
	stood := env.stalls.start(env.recorder)
	defer func() { err = stood(err) }()
	if cfg.Seams.Stage != nil {
		cfg.Seams.Stage(s)
	}
	if err := cfg.Workload.Run(ctx, s); err != nil {
		return err
	}
	if err := workloads.Epilogue(ctx, s); err != nil {
		return err
	}
	return env.album.end(ctx)
}

// NeedsError says that a backend cannot have a fault.
type NeedsError struct {
	Nemesis, Backend string
	Why              error
}

func (e *NeedsError) Error() string {
	return fmt.Sprintf("nemesis %s cannot run on backend %s: %v (lockbench list nemeses)", e.Nemesis, e.Backend, e.Why)
}

func (e *NeedsError) Unwrap() error { return e.Why }

// member is a client with its connections.
type member struct {
	*workloads.Client
	load  []func(context.Context) error // connects to one node and sends the scripts ahead
	conns []io.Closer
	// process is the member whose connections to the lock's servers this one uses, as a thread
	// of the same process. Nil: it is a process of its own.
	process *member
	worker  *worker.Client // the process, if it is one of its own
	env     locks.Env      // of its latest lock
}

// newMember makes worker of workers, without a lock.
func newMember(cfg Config, env surroundings, worker, workers int) *member {
	name := histories.WorkerName(worker)
	for _, node := range env.cluster.Nodes() {
		env.cluster.Link(name, node.Name) // reserves its time slots, in this order
	}
	view, gate, right := new(cluster.View), new(nemesis.Gate), env.clock()
	skew := workloads.NewSkew(right)
	return &member{Client: &workloads.Client{
		Name: name, Worker: worker, Workers: workers,
		Guard:    cfg.Guard,
		Clock:    workloads.Gated(workloads.Skewed(right, skew), gate),
		Skew:     skew,
		Gate:     gate,
		View:     view,
		Recorder: env.recorder,
		Rand:     rand.New(rand.NewChaCha8(seed(cfg.Seed, worker, 0, 'w'))),
		Whim:     rand.New(rand.NewChaCha8(seed(cfg.Seed, worker, 0, 'e'))),
		Patience: right.After,
		Hangs:    env.hangs,
		// Longer than anything that a script holds up, so that no call gives up by itself.
		Timeout:    4*cfg.TTL + 5*time.Second,
		Extends:    cfg.Lock.Extends,
		ExtendAdds: cfg.Lock.Promises.ExtendAdds,
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
func (m *member) host(cfg Config, env surroundings) {
	if m.process == nil {
		m.Lock = m.newLock(cfg, env, 0)
		m.Renew = func() locks.Locker { return m.newLock(cfg, env, m.Life()) }
	} else {
		m.Lock = m.process.newThread(cfg, m.Worker)
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
	m.load = append(m.load, m.Register[cfg.keys()[0]].Load) // their scripts are the same
	if c, ok := m.Lock.(locks.Connector); ok {
		m.load = append(m.load, c.Connect)
	}
}

// newLock makes the lock of a client's life. Once that is over the lock cannot reach anybody.
func (m *member) newLock(cfg Config, env surroundings, life int) locks.Locker {
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
		m.load = append(m.load, func(ctx context.Context) error { return locks.Load(ctx, shard) })
	}
	m.env = locks.Env{
		Nodes:    shards,
		Dial:     dial,
		Clock:    m.Clock,
		NewClock: func() locks.Clock { return workloads.Gated(workloads.Skewed(env.clock(), m.Skew), m.Gate) },
		Rand:     locks.NewSource(seed(cfg.Seed, m.Worker, life, 't')),
		Client:   identity(cfg, m.Worker, life),
		Thread:   1, // the only thread of its process
	}
	return m.make(cfg.Lock, m.env)
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
func (m *member) newThread(cfg Config, worker int) locks.Locker {
	if cfg.Lock.PerProcess {
		return m.Lock
	}
	own := m.env
	own.Clock = own.NewClock()
	own.Rand = locks.NewSource(seed(cfg.Seed, worker, 0, 't'))
	own.Thread = int64(worker) + 1
	return m.make(cfg.Lock, own)
}

// identity is what the lock's users would call the client of a worker's life.
func identity(cfg Config, worker, life int) string {
	if cfg.Lock.ClientName != nil {
		return cfg.Lock.ClientName(worker)
	}
	r := rand.NewChaCha8(seed(cfg.Seed, worker, life, 'i'))
	return fmt.Sprintf("%016x-%016x", r.Uint64(), r.Uint64())
}

// warm connects to every node, one after another.
func (m *member) warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.Clock.In(10*time.Second))
	defer cancel()
	for _, load := range m.load {
		if err := load(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *member) close() error {
	var errs []error
	for _, c := range m.conns {
		errs = append(errs, m.closeSoon(c))
	}
	return errors.Join(errs...)
}

// seed derives an independent stream for each worker, life and use from the run's seed.
func seed(run uint64, worker, life int, use byte) (s [32]byte) {
	binary.LittleEndian.PutUint64(s[:], run)
	binary.LittleEndian.PutUint64(s[8:], uint64(worker))
	s[16] = use
	binary.LittleEndian.PutUint64(s[17:], uint64(life))
	return s
}

// realClock is the machine's clock. In real time nobody needs an instant of their own.
type realClock struct{ worker.Clock }

func (realClock) In(d time.Duration) time.Duration { return d }
