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
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/causes"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/worker"
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
	Snapshots []Snapshot           // one after each step of a script and one at the end, if they were kept
	Samples   []histories.Sample   // what processes took of the machine
	Calls     []Call               // of a script, if they were kept
	Left      string               // in virtual time: where goroutines stand that the lock leaves behind when it is closed; empty: there are none
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
	cfg.Key = servers.KeyPrefix + cfg.Key
	res.Config.Key = cfg.Key
	res.Meta.Server = servers.Server
	res.Meta.Notes = append(res.Meta.Notes, cfg.notes(servers)...)
	var dir *histories.Dir
	var sink io.Writer
	if cfg.Out != "" {
		if dir, err = histories.Create(cfg.Out, res.Meta); err != nil {
			return res, errors.Join(err, servers.Close())
		}
		defer func() { _ = dir.Close() }()
		res.Dir, sink = dir.Path(), dir.HistoryFile()
		if servers.LogTo != nil {
			servers.LogTo(filepath.Join(res.Dir, "logs"))
		}
	}

	recorder := histories.NewRecorder(sink)
	env := environment{
		recorder: recorder, commands: &commandLog{on: cfg.CommandLog}, sampler: new(sampler), snapshots: &snapshots{on: cfg.Snapshots}, calls: &callLog{on: cfg.Calls},
		hangs: new(player.Hangs), interrupted: ctx.Err, keys: new([]player.Key), left: new(string),
	}
	if res.Dir != "" {
		env.logs = filepath.Join(res.Dir, "logs")
	}
	if cfg.FailFast {
		env.failFast = newFailFast(cfg, recorder)
	}
	played := play(ctx, cfg, servers, env, &res.Meta)
	kept := recorder.Close()
	res.collect(cfg, env, played)
	if dir != nil && played != nil && len(res.Events) == 0 && (NotApplicable(played) || !logged(env.logs)) {
		res.Dir = "" // there is nothing to look at
		return res, errors.Join(played, kept, dir.Discard())
	}
	if dir != nil && kept == nil { // a torn history must not be called recorded
		kept = errors.Join(keepCommands(dir, cfg.CommandLog, res.Exchanges), keepSamples(dir, res.Samples), dir.Recorded(res.Meta))
	}
	if err := errors.Join(played, kept); err != nil {
		return res, err
	}
	res.Meta.Phase = histories.PhaseRecorded
	if err := res.judge(ctx, cfg); err != nil {
		return res, err
	}
	err = res.conclude(dir)
	return res, err
}

// notes say what a reader must know of the servers and of the clients' processes.
func (c Config) notes(servers Opened) (notes []string) {
	notes = append(notes, servers.Notes...)
	if c.told != "" {
		notes = append(notes, c.told)
	}
	if c.setsClocks() {
		notes = append(notes, clockNotes(servers.Cluster)...)
	}
	if len(c.Worker) > 0 {
		notes = append(notes, "each client is a process of its own: "+strings.Join(c.Worker, " "))
	}
	if c.Threads > 0 {
		notes = append(notes, fmt.Sprintf("the first %d clients are threads of one process, and use its connections: what they send to the lock's servers is shown as A's", c.Threads))
	}
	return notes
}

// collect takes over what was recorded of a run, which ended with played.
func (r *Result) collect(cfg Config, env environment, played error) {
	r.Events, r.Exchanges, r.Samples, r.Snapshots, r.Calls = env.recorder.Events(), env.commands.exchanges(), env.sampler.kept, env.snapshots.kept, env.calls.all()
	r.Left = *env.left
	r.Meta.Terms = cfg.terms(*env.keys, cfg.CommandLog && env.commands.note() == "")
	r.Meta.Usage, r.Meta.Notes = histories.Sum(env.sampler.kept), append(r.Meta.Notes, env.sampler.notes...)
	if n := env.recorder.Clamped(); n > 0 {
		r.Meta.Notes = append(r.Meta.Notes, fmt.Sprintf("the clock went back %d times", n))
	}
	if n := env.commands.note(); n != "" {
		r.Meta.Notes = append(r.Meta.Notes, n)
	}
	if env.failFast != nil {
		if n := env.failFast.note(); n != "" {
			r.Meta.Notes = append(r.Meta.Notes, n)
		}
	}
	if played != nil {
		r.Meta.Notes = append(r.Meta.Notes, "the run ended early: "+played.Error())
	}
	r.Meta.Events = len(r.Events)
}

// judge judges what was recorded.
func (r *Result) judge(ctx context.Context, cfg Config) error {
	began := time.Now()
	opt := cfg.judgement()
	opt.Commands = witness(r.Meta.Terms, r.Exchanges)
	opt.Now = func() time.Duration { return time.Since(began) }
	judged := cfg.Seams.judge(ctx, r.Events, opt)
	err := ctx.Err()
	if err != nil { // what no judge has come to is no result of the run
		return err
	}
	if r.Judgement, err = checker.NewJudgement(judged, cfg.Want, cfg.Expect); err != nil {
		return err
	}
	if !cfg.NoCauses {
		r.Causes = causes.Of(cfg.traces(*r))
		cfg.names(*r).Name(r.Causes)
	}
	if cfg.Peers != nil && cfg.Expect == checker.Unknown && r.Outcome == checker.Unexpected {
		peers, err := cfg.Peers(ctx, cfg, r.Expected, r.Causes)
		if err != nil {
			return err
		}
		r.Weigh(peers)
	}
	r.Note, r.Why = cfg.reasons(r.Report)
	r.Survivors = append(r.Survivors, cfg.Alternatives...)
	return nil
}

// conclude keeps what the judges say, if the run is kept, and publishes it unless the harness failed.
func (r *Result) conclude(dir *histories.Dir) error {
	if dir != nil {
		if err := dir.Checked(r.Meta, r.Judgement); err != nil {
			return err
		}
	}
	r.Meta.Phase = histories.PhaseChecked
	if r.Report.Verdict == checker.Disagreement {
		return fmt.Errorf("two judges contradict each other, and one of them is wrong; please report it with the history: %s", strings.Join(r.Report.HarnessErrors, "; "))
	}
	if len(r.Report.HarnessErrors) > 0 {
		return fmt.Errorf("the history is not one that a lock can be judged by: %s", r.Report.HarnessErrors[0])
	}
	if dir != nil {
		return dir.Publish(r.Meta)
	}
	return nil
}

// logged reports whether workers or servers have written something into a directory of logs.
func logged(dir string) bool {
	files, _ := os.ReadDir(dir) // without it nothing is there
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		info, err := f.Info()
		return err == nil && info.Size() > 0
	})
}

// keepCommands writes what crossed the wire, also if that was nothing.
func keepCommands(dir *histories.Dir, on bool, x []histories.Exchange) error {
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
		Lock: c.Lock.Name, Guard: c.Guard.String(), Backend: c.Backend.Name, Topology: c.topology().String(),
		Seed: c.Seed, Clients: c.Workload.Clients(), Rate: c.Rate, TTL: c.TTL, Started: now.UTC(),
		Version: c.Version, Command: c.Command,
	}
	if c.Keys > 1 {
		m.Keys = c.Keys
	}
	return m
}

// open brings up real servers, which know what the lock needs. Those of virtual time live in the bubble of their run, and open returns an empty
// deployment for them.
func open(ctx context.Context, cfg Config) (Opened, error) {
	if cfg.Backend.Virtual() {
		return Opened{}, nil
	}
	servers, err := cfg.Backend.Open(ctx, cfg.topology(), Opening{Log: cfg.Log, Clocks: cfg.setsClocks()})
	if err != nil {
		return servers, err
	}
	if err := cfg.knows(ctx, servers); err != nil {
		return Opened{}, errors.Join(err, servers.Close())
	}
	return servers, nil
}

// play lets the workload run on servers, or on embedded ones in virtual time, and takes
// them down.
func play(ctx context.Context, cfg Config, servers Opened, env environment, meta *histories.Meta) error {
	if servers.Cluster != nil {
		start := time.Now()
		env.cluster = servers.Cluster
		env.now = func() time.Duration { return time.Since(start) }
		env.clock = func() player.Clock { return realClock{} }
		env.stalls = &stalls{bound: stallBound(cfg.TTL)}
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
		// A context from outside the bubble cannot wake anybody inside.
		ctx := context.Background()
		servers, err := cfg.Backend.Open(ctx, cfg.topology(), Opening{World: w, Log: cfg.Log, Clocks: cfg.setsClocks(), Scripts: cfg.scripts()})
		if err != nil {
			return err
		}
		env.cluster, env.now = servers.Cluster, w.Now
		told.notes = append(told.notes, servers.Notes...)
		env.clock = func() player.Clock { return w.Source() }
		err = stage(ctx, cfg, env)
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
		return errors.Join(err, servers.Close())
	})
	return told.after(err, env, meta)
}

// environment is what differs between virtual and real time.
type environment struct {
	cluster     cluster.Cluster
	now         func() time.Duration
	clock       func() player.Clock // a new client's clock
	interrupted func() error
	recorder    *histories.Recorder
	commands    *commandLog
	snapshots   *snapshots
	calls       *callLog
	sampler     *sampler // watches nothing in virtual time
	hangs       *player.Hangs
	stalls      *stalls       // nil in virtual time
	logs        string        // directory of what workers write; empty: it is not kept
	fleet       *worker.Fleet // of clients that are processes; nil: they are not
	failFast    *failFast     // nil: the load is played to its end
	keys        *[]player.Key // takes the keys of the run, once it is known where locks are kept
	left        *string       // takes where goroutines stand that are left when all is closed
}
