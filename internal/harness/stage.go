package harness

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/nemesis"
)

// registerNode is the node of the protected register on every backend.
const registerNode = story.Register

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
func stage(ctx context.Context, cfg Config, env environment) (err error) {
	if err := cfg.needs(ctx, env.cluster); err != nil {
		return err
	}
	if err := cfg.persist(ctx, env.cluster); err != nil {
		return err
	}
	s := newStage(cfg.Test, env)
	var all members
	defer func() {
		for _, m := range all {
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
	if err := all.gather(ctx, cfg, env, s); err != nil {
		return err
	}
	if env.fleet != nil {
		if s.Keys, err = all[len(all)-1].keptByWorkers(ctx, cfg.Test, env); err != nil {
			return err
		}
	}
	*env.keys = s.Keys
	clock := all.begin(cfg, env)
	env.snapshots.watch(s, env, clock)
	env.calls.watch(s, clock)
	defer env.sampler.start(clock)()
	stood := env.stalls.start(env.recorder)
	defer func() { err = stood(err) }()
	if cfg.Seams.Stage != nil {
		cfg.Seams.Stage(s)
	}
	if err := cfg.Workload.Run(ctx, s); err != nil {
		return withoutClocks(err)
	}
	if err := player.Epilogue(ctx, s); err != nil {
		return err
	}
	return env.snapshots.end(ctx)
}

// needs says which of the faults the servers cannot have, if there is one.
func (c Config) needs(ctx context.Context, servers cluster.Cluster) error {
	for _, k := range c.Nemesis {
		err := k.Unsupported(servers)
		if err == nil && k.Try != nil {
			err = k.Try(ctx, servers)
		}
		if err != nil {
			return &NeedsError{Nemesis: k.Name, Backend: c.Backend.Name, Why: err}
		}
	}
	return nil
}

// newStage makes the stage of a run, on which nobody stands yet.
func newStage(test Test, env environment) *player.Stage {
	s := &player.Stage{
		Cluster:     env.cluster,
		Shards:      test.Lock.Masters,
		Nemesis:     nemesis.NewInjector(env.recorder),
		Recorder:    env.recorder,
		Clock:       env.clock(),
		Rand:        rand.New(rand.NewChaCha8(seed(test.Seed, histories.Nemesis, 0, 'n'))),
		Keys:        test.kept(test.Lock),
		TTL:         test.TTL,
		DefaultTTL:  test.Lock.Promises.DefaultTTL,
		Slack:       test.slack() + test.Lock.Promises.Tolerance,
		Interrupted: env.interrupted,
		Hangs:       env.hangs,
	}
	if env.stalls != nil {
		s.Late = func(d, lease time.Duration) { late(env.recorder, d, lease) }
	}
	if env.failFast != nil {
		s.Enough = env.failFast.enough
	}
	return s
}

// members are those of a run: the clients, and then the prober.
type members []*member

// gather connects them all and puts them on the stage. Those that it has come to must be closed.
func (all *members) gather(ctx context.Context, cfg Config, env environment, s *player.Stage) error {
	env.commands.know(cfg.scripts())
	n := cfg.Workload.Clients()
	for worker := range n + 1 { // the last is the prober
		m := newMember(cfg.Test, env, worker, n+1)
		*all = append(*all, m)
		for _, node := range env.cluster.Nodes() {
			env.commands.noteScripts(env.cluster.Link(m.Name, node.Name))
		}
		if 0 < worker && worker < cfg.Threads {
			m.process = (*all)[0]
		}
		var err error
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
	return nil
}

// begin starts the clock of the run, which it returns.
func (all members) begin(cfg Config, env environment) func() time.Duration {
	// The run begins when everybody is connected: a first connection's set-up would
	// otherwise be what a fault hits.
	start := env.now()
	clock := func() time.Duration { return env.now() - start }
	env.recorder.Start(seen(clock, cfg.Seen))
	for _, m := range all {
		m.Now = clock
		for _, node := range env.cluster.Nodes() {
			env.commands.watch(m.Name, node.Name, env.cluster.Link(m.Name, node.Name), clock)
		}
	}
	return clock
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
