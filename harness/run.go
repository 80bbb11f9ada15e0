package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/cluster/embedded"
	"github.com/lockbench/lockbench/cluster/external"
	"github.com/lockbench/lockbench/cluster/process"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/sim"
	"github.com/lockbench/lockbench/workloads"
)

// standstill is how long, in real time, a run in virtual time may take.
const standstill = 2 * time.Minute

// Result is what a run gave.
type Result struct {
	Config    Config
	Meta      histories.Meta
	Events    []histories.Event
	Exchanges []histories.Exchange // what crossed the wire, if it was kept
	Report    checker.Report
	Outcome   checker.Outcome
	Expected  []checker.Judged // of each property, and whether it came out so
	Dir       string           // where the run is kept; empty if it is not
}

// Run runs cfg once. An error means that the harness failed, not the lock; what was
// recorded until then is in the Result and, if the run is kept, on disk.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Result{Config: cfg}, err
	}
	res := Result{Config: cfg, Meta: cfg.meta(time.Now())}
	servers, err := open(ctx, cfg)
	if err != nil {
		return res, err
	}
	if c, ok := servers.Cluster.(*external.Cluster); ok {
		cfg.Key = c.KeyPrefix() + cfg.Key
		res.Config.Key = cfg.Key
		res.Meta.Notes = append(res.Meta.Notes, c.Notes()...)
	}
	var dir *histories.Dir
	var sink io.Writer
	if cfg.Out != "" {
		if dir, err = histories.Create(cfg.Out, res.Meta); err != nil {
			return res, errors.Join(err, servers.Close())
		}
		defer func() { _ = dir.Close() }()
		res.Dir, sink = dir.Path(), dir.HistoryFile()
		if c, ok := servers.Cluster.(interface{ LogTo(dir string) }); ok {
			c.LogTo(filepath.Join(res.Dir, "logs"))
		}
	}

	recorder := histories.NewRecorder(sink)
	tape := &tape{on: cfg.Tape}
	played := play(ctx, cfg, servers, surroundings{recorder: recorder, tape: tape, interrupted: ctx.Err}, &res.Meta)
	kept := recorder.Close()
	res.Events, res.Exchanges = recorder.Events(), tape.exchanges()
	if n := recorder.Clamped(); n > 0 {
		res.Meta.Notes = append(res.Meta.Notes, fmt.Sprintf("the clock went back %d times", n))
	}
	if played != nil {
		res.Meta.Notes = append(res.Meta.Notes, "the run ended early: "+played.Error())
	}
	if dir != nil && kept == nil { // a torn history must not be called recorded
		kept = errors.Join(keepExchanges(dir, res.Exchanges), dir.Recorded(res.Meta))
	}
	if err := errors.Join(played, kept); err != nil {
		return res, err
	}
	res.Meta.Phase = histories.PhaseRecorded

	began := time.Now()
	res.Report = checker.Check(ctx, res.Events, checker.Options{
		FaultsExpected: cfg.Faults,
		ClientFaults:   nemesis.ClientFaults(),
		Slack:          cfg.slack(),
		Now:            func() time.Duration { return time.Since(began) },
	})
	res.Outcome, res.Expected = checker.Compare(res.Report, cfg.Want)
	if dir != nil {
		if err := dir.Checked(res.Meta, res.Report); err != nil {
			return res, err
		}
	}
	res.Meta.Phase = histories.PhaseChecked
	if len(res.Report.HarnessErrors) > 0 {
		return res, fmt.Errorf("the history is not one that a lock can be judged by: %s", res.Report.HarnessErrors[0])
	}
	return res, nil
}

func keepExchanges(dir *histories.Dir, x []histories.Exchange) error {
	if len(x) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := histories.WriteExchanges(&b, x); err != nil {
		return err
	}
	return dir.WriteFile(histories.CommandsFile, b.Bytes())
}

func (c Config) meta(now time.Time) histories.Meta {
	return histories.Meta{
		Schema: histories.Schema, Phase: histories.PhaseRunning,
		Scenario: c.Name, Pitfall: c.Pitfall, Title: c.Title,
		Lock: c.Lock.Name, Guard: c.Guard.String(), Backend: c.Backend, Topology: c.topology().String(),
		Seed: c.Seed, Clients: c.Workload.Clients(), TTL: c.TTL, Started: now.UTC(),
		Version: c.Version, Command: c.Command,
	}
}

// deployment is a cluster that is open outside of any bubble.
type deployment struct{ cluster.Cluster }

// Close ends the deployment, if there is one.
func (d deployment) Close() error {
	if d.Cluster == nil {
		return nil
	}
	return d.Cluster.Close()
}

// open brings up real servers. The embedded ones live in the bubble of their run, and
// open returns an empty deployment for them.
func open(ctx context.Context, cfg Config) (deployment, error) {
	if cfg.Backend == Embedded {
		return deployment{}, nil
	}
	var c cluster.Cluster
	var err error
	switch cfg.Backend {
	case Docker:
		c, err = docker.New(ctx, cfg.topology(), docker.Options{Log: cfg.Log})
	case External:
		c, err = external.New(ctx, cfg.topology(), cfg.Servers, external.Options{})
	default:
		c, err = process.New(ctx, cfg.topology(), process.Options{})
	}
	if err != nil {
		return deployment{}, err
	}
	return deployment{c}, nil
}

// play lets the workload run on servers, or on embedded ones in virtual time, and takes
// them down.
func play(ctx context.Context, cfg Config, servers deployment, env surroundings, meta *histories.Meta) error {
	if servers.Cluster != nil {
		start := time.Now()
		env.cluster = servers.Cluster
		env.now = func() time.Duration { return time.Since(start) }
		env.clock = func() workloads.Clock { return realClock{} }
		err := stage(ctx, cfg, env)
		return errors.Join(err, servers.Close())
	}
	return sim.Run(cfg.Seed, standstill, func(w *sim.World) error {
		c, err := embedded.New(w, cfg.topology(), embedded.Options{})
		if err != nil {
			return err
		}
		env.cluster, env.now = c, w.Now
		env.clock = func() workloads.Clock { return w.Source() }
		// A context from outside the bubble cannot wake anybody inside.
		err = stage(context.Background(), cfg, env)
		meta.Replayable = w.Replayable() && cfg.Lock.Unseeded == ""
		if cfg.Lock.Unseeded != "" {
			meta.Notes = append(meta.Notes, fmt.Sprintf("the run may not replay: %s takes %s from the machine", cfg.Lock.Name, cfg.Lock.Unseeded))
		}
		if n := w.Ambiguous(); n > 0 {
			meta.Notes = append(meta.Notes, fmt.Sprintf("at %d instants two sources acted at once: the run may not replay", n))
		}
		return errors.Join(err, c.Close())
	})
}

// surroundings are what differs between virtual and real time.
type surroundings struct {
	cluster     cluster.Cluster
	now         func() time.Duration
	clock       func() workloads.Clock // a new client's clock
	interrupted func() error
	recorder    *histories.Recorder
	tape        *tape
}
