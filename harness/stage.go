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

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/workloads"
)

// registerNode is the node of the protected register on every backend.
const registerNode = "register"

// stage sets up the clients and plays the workload and its epilogue.
func stage(ctx context.Context, cfg Config, env surroundings) (err error) {
	for _, k := range cfg.Nemesis {
		if err := k.Needs(env.cluster); err != nil {
			return &NeedsError{Nemesis: k.Name, Backend: cfg.Backend, Why: err}
		}
	}
	s := &workloads.Stage{
		Cluster:     env.cluster,
		Shards:      cfg.Lock.Masters,
		Nemesis:     nemesis.NewInjector(env.recorder),
		Recorder:    env.recorder,
		Clock:       env.clock(),
		Rand:        rand.New(rand.NewChaCha8(seed(cfg.Seed, histories.Nemesis, 'n'))),
		Key:         cfg.Key,
		LockKeys:    []string{cfg.Key},
		TTL:         cfg.TTL,
		Slack:       cfg.slack(),
		Interrupted: env.interrupted,
	}
	if cfg.Lock.Keys != nil {
		s.LockKeys = cfg.Lock.Keys(cfg.Key)
	}
	n := cfg.Workload.Clients()
	var members []member
	defer func() {
		for _, m := range members {
			err = errors.Join(err, m.close())
		}
	}()
	for worker := range n + 1 { // the last is the prober
		m := newMember(cfg, env, worker, n+1)
		members = append(members, m)
		if err := m.warm(ctx); err != nil {
			return fmt.Errorf("connect %s: %w", m.Name, err)
		}
		if worker < n {
			s.Clients = append(s.Clients, m.Client)
		} else {
			s.Prober = m.Client
		}
	}

	// The run begins when everybody is connected: a first connection's set-up would
	// otherwise be what a fault hits.
	start := env.now()
	clock := func() time.Duration { return env.now() - start }
	env.recorder.Start(clock)
	for _, m := range members {
		m.Now = clock
		for _, node := range env.cluster.Nodes() {
			env.tape.watch(m.Name, node.Name, env.cluster.Link(m.Name, node.Name), clock)
		}
	}
	if err := cfg.Workload.Run(ctx, s); err != nil {
		return err
	}
	return workloads.Epilogue(ctx, s)
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
}

// newMember makes worker of workers. It has one connection pool per shard and one for
// the register.
func newMember(cfg Config, env surroundings, worker, workers int) member {
	name := histories.WorkerName(worker)
	for _, node := range env.cluster.Nodes() {
		env.cluster.Link(name, node.Name) // reserves its time slots, in this order
	}
	var m member
	dial := func(node func() string) *locks.Client {
		c := locks.NewClient(func(ctx context.Context) (net.Conn, error) {
			return env.cluster.Dial(ctx, name, node())
		})
		m.conns = append(m.conns, c)
		return c
	}
	var shards []*locks.Client
	for i := range cfg.Lock.Masters {
		shard := dial(func() string { return env.cluster.Primary(i) })
		shards = append(shards, shard)
		m.load = append(m.load, func(ctx context.Context) error { return locks.Load(ctx, shard) })
	}
	register := resource.NewRegister(dial(func() string { return registerNode }), cfg.Key)
	m.load = append(m.load, register.Load)

	gate := new(nemesis.Gate)
	clock := workloads.Gated(env.clock(), gate)
	identity := rand.NewChaCha8(seed(cfg.Seed, worker, 'i'))
	called := fmt.Sprintf("%016x-%016x", identity.Uint64(), identity.Uint64())
	if cfg.Lock.ClientName != nil {
		called = cfg.Lock.ClientName(worker)
	}
	m.Client = &workloads.Client{
		Name: name, Worker: worker, Workers: workers,
		Lock: cfg.Lock.New(locks.Env{
			Nodes: shards,
			Dial: func(ctx context.Context, node int) (net.Conn, error) {
				return env.cluster.Dial(ctx, name, env.cluster.Primary(node))
			},
			Clock:    clock,
			NewClock: func() locks.Clock { return workloads.Gated(env.clock(), gate) },
			Rand:     rand.NewChaCha8(seed(cfg.Seed, worker, 't')),
			Client:   called,
			Thread:   1, // the only thread of its process
		}),
		Register: register,
		Guard:    cfg.Guard,
		Clock:    clock,
		Gate:     gate,
		Recorder: env.recorder,
		Rand:     rand.New(rand.NewChaCha8(seed(cfg.Seed, worker, 'w'))),
		// Longer than anything that a script holds up, so that no call gives up by itself.
		Timeout: 4*cfg.TTL + 5*time.Second,
	}
	if c, ok := m.Lock.(locks.Connector); ok {
		m.load = append(m.load, c.Connect)
	}
	if c, ok := m.Lock.(io.Closer); ok {
		m.conns = append([]io.Closer{c}, m.conns...) // before the clients that it uses
	}
	return m
}

// warm connects to every node, one after another.
func (m member) warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.Clock.In(10*time.Second))
	defer cancel()
	for _, load := range m.load {
		if err := load(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m member) close() error {
	var errs []error
	for _, c := range m.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// seed derives an independent stream for each worker and use from the run's seed.
func seed(run uint64, worker int, use byte) (s [32]byte) {
	binary.LittleEndian.PutUint64(s[:], run)
	binary.LittleEndian.PutUint64(s[8:], uint64(worker))
	s[16] = use
	return s
}

// realClock is the machine's clock.
type realClock struct{}

func (realClock) Now() time.Time                         { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
func (realClock) In(d time.Duration) time.Duration       { return d }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
