package harness

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// newFleet returns what runs the clients as processes. What they write to their standard
// error is kept with the run.
func newFleet(ctx context.Context, cfg Config, env environment) (*worker.Fleet, error) {
	var log func(client string) (io.WriteCloser, error)
	if env.logs != "" {
		log = func(client string) (io.WriteCloser, error) {
			if err := os.MkdirAll(env.logs, 0o755); err != nil {
				return nil, err
			}
			return os.Create(filepath.Join(env.logs, "worker-"+strings.ReplaceAll(client, " ", "-")+".log"))
		}
	}
	fleet, err := worker.NewFleet(ctx, cfg.Worker, log)
	if err != nil {
		return nil, err
	}
	fleet.Require("workload "+cfg.Name, cfg.asksOfWorkers()...)
	if cfg.Seams.Grace > 0 {
		fleet.Grant(cfg.Seams.Grace)
	}
	return fleet, nil
}

// asksOfWorkers is what the workload needs of a worker that not every one can.
func (t Test) asksOfWorkers() (needs []string) {
	if t.Threads > 0 {
		needs = append(needs, worker.CanThreads)
	}
	w := t.Workload
	if under, ok := w.(player.UnderFaults); ok {
		w = under.Workload
	}
	if w, ok := w.(interface{ Shares() bool }); ok && w.Shares() {
		needs = append(needs, worker.CanShare)
	}
	if w, ok := w.(interface{ Reenters() bool }); ok && w.Reenters() {
		needs = append(needs, worker.CanReenter)
	}
	if w, ok := w.(player.Script); ok && w.Extends() {
		needs = append(needs, worker.CanExtend)
	}
	if w, ok := w.(interface{ ReleasesTwice() bool }); ok && w.ReleasesTwice() {
		needs = append(needs, worker.CanReleaseTwice)
	}
	if w, ok := w.(interface{ ReleasesRefused() bool }); ok && w.ReleasesRefused() {
		needs = append(needs, worker.CanReleaseRefused)
	}
	if w, ok := w.(player.Script); ok && w.Verifies() {
		needs = append(needs, worker.CanVerify)
	}
	if w, ok := w.(player.Script); ok && w.WithoutTTL() {
		needs = append(needs, worker.CanWithoutTTL)
	}
	return needs
}

// employ lets the client live in a process of its own, which reaches the servers through
// listeners of ours, or as another thread of one.
func (m *member) employ(ctx context.Context, cfg Config, env environment) error {
	process, err := m.employed(ctx, cfg, env)
	if err != nil {
		return err
	}
	m.Lock, m.Process = process.Locker(), process
	m.Extends = cfg.Lock.Extends && process.Said().Extends
	if m.Worker >= cfg.Threads {
		m.Sent = func() int { return m.sent(env.cluster) }
	}
	m.Skew = nil // its clock is not ours to set
	m.Enter = func(l locks.Lease) player.Section {
		return l.(*worker.Lease) //nolint:forcetypeassert // the lock is that of a worker
	}
	if m.process == nil {
		env.sampler.watch(target{
			name:    "client " + m.Name,
			measure: func(ctx context.Context) (osproc.Usage, error) { return osproc.Measure(ctx, process.PID()) },
			alive:   func() bool { return true },
		})
	}
	return nil
}

// employed starts the member's process, or returns a thread of the one that it shares.
func (m *member) employed(ctx context.Context, cfg Config, env environment) (*worker.Client, error) {
	if m.process != nil {
		return m.process.worker.Thread(m.Worker), nil
	}
	gateway := worker.NewGateway(m.Name, env.cluster)
	m.conns = append(m.conns, gateway)
	var nodes []string
	for i := range cfg.Lock.Masters {
		address, err := gateway.Listen(ctx, func() string { return m.View.Primary(env.cluster, i) })
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, address)
	}
	register, err := gateway.Listen(ctx, func() string { return registerNode })
	if err != nil {
		return nil, err
	}
	read, write, enter := resource.Scripts()
	m.worker, err = env.fleet.Start(ctx, m.Name, func(life int) worker.Setting {
		s := seed(cfg.Seed, m.Worker, life, 't')
		return worker.Setting{
			Lock: catalogued(cfg.Lock), Guard: cfg.Guard.String(), Nodes: nodes,
			Register: worker.Register{Address: register, Suffix: resource.KeySuffix, Read: read, Write: write, Enter: enter},
			Client:   m.Name, Identity: identity(cfg.Test, m.Worker, life), Seed: hex.EncodeToString(s[:]),
		}
	})
	return m.worker, err
}

// catalogued is the name by which a worker is asked for a lock: none for one that only the
// worker knows.
func catalogued(lock locks.Spec) string {
	if lock.New == nil {
		return ""
	}
	return lock.Name
}

// WithWorkers is c with each client in a process of command, or says why that cannot be. An
// empty command means that they live in ours.
func (c Config) WithWorkers(command []string) (Config, error) {
	c.Worker = command
	return c, c.canEmploy()
}

// canEmploy returns why clients cannot be processes of their own, or nil.
func (c Config) canEmploy() error {
	if len(c.Worker) == 0 && c.Lock.New == nil {
		return fmt.Errorf("lock %s is known to its worker only, and there is no --worker", c.Lock.Name)
	}
	if len(c.Worker) > 0 && (c.Backend.orDefault().Virtual()) {
		return fmt.Errorf("backend %s is virtual time inside of one process, and a worker is a process of its own; use --backend %s, %s or %s",
			histories.BackendEmbedded, histories.BackendProcess, histories.BackendDocker, histories.BackendExternal)
	}
	if len(c.Worker) > 0 && c.InProcess != "" {
		return &UnfitError{fmt.Errorf("%s cannot be had with clients in processes of their own: %s", c.Name, c.InProcess)}
	}
	if len(c.Worker) > 0 && c.Threads > 0 && !c.Lock.Promises.Threads {
		return &UnfitError{fmt.Errorf("in %s clients are threads of one process, and the hello of the worker does not say that it can %q", c.Name, worker.CanThreads)}
	}
	return nil
}

// WantsProcesses reports whether clients should be processes of their own: a fault is to stop
// or kill them, and the backend is not virtual time.
func WantsProcesses(nemeses []string, backend Backend) bool {
	return !backend.Virtual() && slices.ContainsFunc(nemeses, func(name string) bool {
		return name == nemesis.PauseName || name == nemesis.CrashName
	})
}
