package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/checker/causes"
	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/cluster/embedded"
	"github.com/lockbench/lockbench/cluster/external"
	"github.com/lockbench/lockbench/cluster/process"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/sim"
	"github.com/lockbench/lockbench/worker"
	"github.com/lockbench/lockbench/workloads"
)

// standstill is how long, in real time, virtual time may not move. It is counted only while
// lockbench itself is seen to run.
const standstill = 2 * time.Second

// Result is what a run gave.
type Result struct {
	Config    Config
	Meta      histories.Meta
	Events    []histories.Event
	Exchanges []histories.Exchange // what crossed the wire, if it was kept
	Album     []Snapshot           // one after each step of a script and one at the end, if they were kept
	Samples   []histories.Sample   // what processes took of the machine
	checker.Judgement
	Dir string // where the run is kept; empty if it is not
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
	if cfg.setsClocks() {
		res.Meta.Notes = append(res.Meta.Notes, clockNotes(servers.Cluster)...)
	}
	if len(cfg.Worker) > 0 {
		res.Meta.Notes = append(res.Meta.Notes, "each client is a process of its own: "+strings.Join(cfg.Worker, " "))
	}
	if cfg.Threads > 0 {
		res.Meta.Notes = append(res.Meta.Notes, fmt.Sprintf("the first %d clients are threads of one process, and use its connections: what they send to the lock's servers is shown as A's", cfg.Threads))
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
	tape, sampler, album := &tape{on: cfg.Tape}, new(sampler), &album{on: cfg.Album}
	env := surroundings{recorder: recorder, tape: tape, sampler: sampler, album: album, hangs: new(workloads.Hangs), interrupted: ctx.Err, keys: new([]workloads.Key)}
	if res.Dir != "" {
		env.logs = filepath.Join(res.Dir, "logs")
	}
	if cfg.FailFast {
		env.lookout = newLookout(cfg, recorder)
	}
	played := play(ctx, cfg, servers, env, &res.Meta)
	kept := recorder.Close()
	res.Events, res.Exchanges, res.Samples, res.Album = recorder.Events(), tape.exchanges(), sampler.kept, album.kept
	res.Meta.Terms = cfg.terms(*env.keys, tape.note() == "")
	res.Meta.Usage, res.Meta.Notes = histories.Sum(sampler.kept), append(res.Meta.Notes, sampler.notes...)
	if n := recorder.Clamped(); n > 0 {
		res.Meta.Notes = append(res.Meta.Notes, fmt.Sprintf("the clock went back %d times", n))
	}
	if n := tape.note(); n != "" {
		res.Meta.Notes = append(res.Meta.Notes, n)
	}
	if env.lookout != nil {
		if n := env.lookout.note(); n != "" {
			res.Meta.Notes = append(res.Meta.Notes, n)
		}
	}
	if played != nil {
		res.Meta.Notes = append(res.Meta.Notes, "the run ended early: "+played.Error())
	}
	res.Meta.Events = len(res.Events)
	if dir != nil && played != nil && len(res.Events) == 0 && (NotApplicable(played) || !logged(env.logs)) {
		res.Dir = "" // there is nothing to look at
		return res, errors.Join(played, kept, dir.Discard())
	}
	if dir != nil && kept == nil { // a torn history must not be called recorded
		kept = errors.Join(keepTape(dir, cfg.Tape, res.Exchanges), keepSamples(dir, sampler.kept), dir.Recorded(res.Meta))
	}
	if err := errors.Join(played, kept); err != nil {
		return res, err
	}
	res.Meta.Phase = histories.PhaseRecorded

	began := time.Now()
	opt := cfg.judgement()
	opt.Commands = witness(res.Meta.Terms, res.Exchanges)
	opt.Now = func() time.Duration { return time.Since(began) }
	judged := cfg.Seams.judge(ctx, res.Events, opt)
	if err := ctx.Err(); err != nil { // what no judge has come to is no result of the run
		return res, err
	}
	res.Judgement, err = checker.NewJudgement(judged, cfg.Want, cfg.Expect)
	if err != nil {
		return res, err
	}
	if cfg.Peers != nil && cfg.Expect == checker.Unknown && res.Outcome == checker.Unexpected {
		peers, err := cfg.Peers(ctx, cfg, res.Expected)
		if err != nil {
			return res, err
		}
		res.Weigh(peers)
	}
	res.Causes = causes.Of(cfg.traces(res))
	res.Note, res.Why = cfg.reasons(res.Report)
	res.Survivors = append(res.Survivors, cfg.Alternatives...)
	if dir != nil {
		if err := dir.Checked(res.Meta, res.Judgement); err != nil {
			return res, err
		}
	}
	res.Meta.Phase = histories.PhaseChecked
	if res.Report.Verdict == checker.Disagreement {
		return res, fmt.Errorf("two judges contradict each other, and one of them is wrong; please report it with the history: %s", strings.Join(res.Report.HarnessErrors, "; "))
	}
	if len(res.Report.HarnessErrors) > 0 {
		return res, fmt.Errorf("the history is not one that a lock can be judged by: %s", res.Report.HarnessErrors[0])
	}
	if dir != nil {
		return res, dir.Publish(res.Meta)
	}
	return res, nil
}

// logged says whether workers or servers have written something into a directory of logs.
func logged(dir string) bool {
	files, _ := os.ReadDir(dir) // without it nothing is there
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		info, err := f.Info()
		return err == nil && info.Size() > 0
	})
}

// keepTape writes what crossed the wire, also if that was nothing.
func keepTape(dir *histories.Dir, on bool, x []histories.Exchange) error {
	if !on {
		return nil
	}
	var b bytes.Buffer
	if err := histories.WriteExchanges(&b, x); err != nil {
		return err
	}
	return dir.WriteFile(histories.CommandsFile, b.Bytes())
}

func (c Config) meta(now time.Time) histories.Meta {
	m := histories.Meta{
		Schema: histories.Schema, Phase: histories.PhaseRunning,
		Scenario: c.Name, Pitfall: c.Pitfall, Title: c.Title,
		Lock: c.Lock.Name, Guard: c.Guard.String(), Backend: c.Backend, Topology: c.topology().String(),
		Seed: c.Seed, Clients: c.Workload.Clients(), Rate: c.Rate, TTL: c.TTL, Started: now.UTC(),
		Version: c.Version, Command: c.Command,
	}
	if c.Keys > 1 {
		m.Keys = c.Keys
	}
	return m
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
		c, err = docker.New(ctx, cfg.topology(), docker.Options{Log: cfg.Log, Clocks: cfg.setsClocks()})
	case External:
		c, err = external.New(ctx, cfg.topology(), cfg.Servers, external.Options{State: stateDir()})
	default:
		c, err = process.New(ctx, cfg.topology(), process.Options{Clocks: cfg.setsClocks()})
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
		env.stalls = &stalls{bound: cfg.stallBound()}
		env.sampler.watchServers(servers.Cluster)
		err := watched(ctx, servers.Cluster, func(ctx context.Context) error {
			env.interrupted = func() error { return context.Cause(ctx) }
			return stage(ctx, cfg, env)
		})
		if death, ok := errors.AsType[*DeathError](err); ok {
			env.recorder.Record(histories.Event{
				Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Died, Node: death.Node, Err: death.How,
			})
		}
		return errors.Join(err, servers.Close())
	}
	var told toldInBubble
	err := sim.RunContext(ctx, cfg.Seed, standstill, func(w *sim.World) error {
		c, err := embedded.New(w, cfg.topology(), embedded.Options{})
		if err != nil {
			return err
		}
		env.cluster, env.now = c, w.Now
		if cfg.ClusterMode {
			told.notes = append(told.notes, "cluster mode is simulated: commands on keys of different slots are refused, and all slots are on one node")
		}
		env.clock = func() workloads.Clock { return w.Source() }
		// A context from outside the bubble cannot wake anybody inside.
		err = stage(context.Background(), cfg, env)
		told.replayable = w.Replayable() && cfg.Lock.Unseeded == ""
		if cfg.Lock.Unseeded != "" {
			told.notes = append(told.notes, "the run may not replay: "+cfg.Lock.Unseeded)
		}
		if n := w.Ambiguous(); n > 0 {
			told.notes = append(told.notes, fmt.Sprintf("at %d instants two sources acted at once: the run may not replay", n))
		}
		if w.Crowded() {
			told.notes = append(told.notes, "more connections were open at once than have time slots of their own: the run may not replay")
		}
		return errors.Join(err, c.Close())
	})
	return told.after(err, env, meta)
}

// surroundings are what differs between virtual and real time.
type surroundings struct {
	cluster     cluster.Cluster
	now         func() time.Duration
	clock       func() workloads.Clock // a new client's clock
	interrupted func() error
	recorder    *histories.Recorder
	tape        *tape
	album       *album
	sampler     *sampler // watches nothing in virtual time
	hangs       *workloads.Hangs
	stalls      *stalls          // nil in virtual time
	logs        string           // directory of what workers write; empty: it is not kept
	fleet       *worker.Fleet    // of clients that are processes; nil: they are not
	lookout     *lookout         // nil: the load is played to its end
	keys        *[]workloads.Key // takes the keys of the run, once it is known where locks are kept
}
