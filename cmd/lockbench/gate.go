package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/scenarios"
)

// workersLock is the lock whose promises a worker's lock makes if neither --lock nor the worker
// says.
const workersLock = "setnx-px-lua"

// gateFlags are the flags of gate as the user gave them.
type gateFlags struct {
	backend, lock, guard, worker, shard string
	redis, register                     string
	servers                             serverFlags
	only, failOn                        []string
	seed                                uint64
	runs, jobs                          int
	record, commit                      string
	exploring                           time.Duration
	store                               string       // the directory, or noStore
	failed                              string       // lastGate, or the file of a gate, whose failed runs are played again; empty: all are played
	before                              gate.Results // the gate that --failed is about
	out                                 outputs
}

func newGate() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Play the whole catalogue and check that every lock comes out as expected",
		Long: `Gate plays every scenario of the catalogue, the broken lock and its twins, and checks what each judge says of them.

It exits with 0 only if every expectation is met: a broken lock that is no longer caught fails the gate as surely as a sound
lock that is accused. 2 is unknown, which is no pass, and 3 says that nothing of it applies. What a backend cannot play is listed with the reason and does not count.

With --lock or --worker it is the user's own lock that goes through every scenario that has something to say of it, and it must
keep whatever can be kept there. --baseline fails on new findings alone, and --update-baseline accepts those that there are.

--explore 10s spends that time, when all scenarios were played, on schedules that nobody wrote (lockbench explore --help): of the
user's own lock, or of each sound lock of the scenarios, in virtual time, and of a worker's on the backend. What breaks there is
the lock's own fault and fails the gate. What was not looked at is told; it fails nothing, and has not passed.

--failed plays only the runs that were not as expected the last time, as the store has it of the same locks and servers; each run counts
as it came out last. It passes if these pass: whether all others still do, a whole gate shows.

--shard 2/5 plays the second of five parts; lockbench merge joins what each part wrote with --json.`,
		Example: `  lockbench gate
  lockbench gate --only P07,redlock-* --runs 20
  lockbench gate --backend process --junit gate.xml --markdown "$GITHUB_STEP_SUMMARY"
  lockbench gate --backend process --server valkey-server
  lockbench gate --lock redlock --guard epoch --failed
  lockbench gate --worker 'python3 my_lock.py' --baseline lockbench.json --fail-on resource-safety,ownership
  lockbench gate --lock redsync --explore 60s
  lockbench gate --shard 2/5 --json gate-2.json`,
		Args: f.failedFile,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opt, err := f.options(cmd.Context(), cmd.Flags().Changed)
			if err != nil {
				return misuse(err)
			}
			return f.run(cmd.Context(), opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.backend, "backend", defaultBackend(), "where the servers live: "+describe(backends())+" (default with --worker: process)")
	f.servers.flags(cmd)
	flags.StringSliceVar(&f.only, "only", nil, "scenarios to play, comma-separated: numbers (P07, P17-P20), names, or patterns (redlock-*)")
	flags.StringVar(&f.lock, "lock", "", "put this lock through every scenario, instead of the catalogue's (with --worker: the lock whose promises it makes)")
	flags.StringVar(&f.guard, "guard", "", "guard of its sections: "+strings.Join(guardNames(), ", ")+" (default: the one that each scenario is about)")
	flags.StringVar(&f.worker, "worker", "", "command of a process that each client runs in, with a lock of your own (docs/worker-protocol.md), or self")
	flags.StringVar(&f.redis, "redis", "", "servers of backend external, comma-separated; see lockbench run")
	flags.StringVar(&f.register, "register", "", "server of the protected register on backend external")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run of each case")
	flags.IntVar(&f.runs, "runs", 1, "runs of each case, with seeds counting up from --seed")
	flags.IntVar(&f.jobs, "jobs", 0, "runs at a time (default: one per processor; on process 8, on docker 4 per processor if there is memory for them; on external 4)")
	flags.StringVar(&f.shard, "shard", wholeShard, "play one part of the plan: INDEX/COUNT, counting from 1")
	flags.StringSliceVar(&f.failOn, "fail-on", nil, "properties that decide, comma-separated (default: all)")
	flags.DurationVar(&f.exploring, "explore", 0, "for how long to look for schedules that nobody wrote (default: not at all)")
	f.storeFlags(cmd)
	flags.StringVar(&f.record, "track-record", "", "bring this page up to date with what was reproduced (docs/track-record.md)")
	flags.StringVar(&f.commit, "commit", "", "commit that --track-record names (default: rows keep the one that they have)")
	f.out.flags(cmd)
	completeGate(cmd)
	return cmd
}

// completeGate names the values that flags may have.
func completeGate(cmd *cobra.Command) {
	nothing := func() []string { return nil } // not the names of files
	for name, values := range map[string]func() []string{
		"backend": backendNames, "only": scenarioNames, "lock": lockNames, "guard": guardNames, "fail-on": gateProperties,
		"worker": func() []string { return []string{workerSelf} }, "redis": nothing, "register": nothing, "shard": nothing,
	} {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// gateProperties are the properties of locks.
func gateProperties() []string {
	var names []string
	for _, p := range properties() {
		if p != string(checker.Linearizability) {
			names = append(names, p)
		}
	}
	return names
}

// options turns flags into what the gate plays. changed says which flags were given.
func (f *gateFlags) options(ctx context.Context, changed func(flag string) bool) (gate.Options, error) {
	if f.worker != "" && !changed("backend") {
		f.backend = harness.Process().Name
	}
	backend, err := backendNamed(f.backend, backends())
	if err == nil {
		backend, err = f.servers.on(ctx, backend)
	}
	if err != nil {
		return gate.Options{}, err
	}
	opt := gate.Options{Backend: backend, Only: f.only, Seed: f.seed, Runs: f.runs, Version: buildVersion(), Command: f.replay, Exploring: f.exploring}
	switch {
	case f.runs < 1:
		return opt, fmt.Errorf("--runs is %d, want at least 1", f.runs)
	case f.store == "":
		return opt, errNoStore
	case changed("jobs") && f.jobs < 1:
		return opt, fmt.Errorf("--jobs is %d, want at least 1", f.jobs)
	case f.guard != "" && f.lock == "" && f.worker == "":
		return opt, errors.New("--guard belongs to --lock or --worker; the catalogue has guards of its own")
	case f.commit != "" && f.record == "" || f.record != "" && (f.lock != "" || f.worker != "" || f.shard != wholeShard || len(f.failOn) > 0):
		return opt, errors.New("--track-record is about the whole catalogue, without --lock, --worker, --shard and --fail-on, and --commit belongs to it")
	case backend.UsersOwn != (f.redis != ""):
		return opt, errors.New("--redis and --backend external go together (lockbench run --help)")
	}
	for _, p := range f.failOn {
		if err := oneOf("property", p, gateProperties()); err != nil {
			return opt, err
		}
		opt.FailOn = append(opt.FailOn, checker.Property(p))
	}
	if opt.Shard, err = gate.ParseShard(f.shard); err != nil {
		return opt, err
	}
	if opt.Subject, err = f.subject(ctx, backend); err != nil {
		return opt, err
	}
	if err := canExplore(opt); err != nil {
		return opt, err
	}
	if backend.UsersOwn {
		servers, err := parseServers(&f.redis, &f.register)
		if err != nil {
			return opt, err
		}
		opt.Backend = harness.External(servers)
	}
	if f.record != "" {
		if err := gate.CanWrite(f.record); err != nil {
			return opt, err
		}
	}
	if err := f.out.validate(opt.Shard); err != nil || f.failed == "" {
		return opt, err
	}
	opt.Again, err = f.again(opt)
	return opt, err
}

// subject is the user's own lock, or nil.
func (f *gateFlags) subject(ctx context.Context, backend harness.Backend) (*gate.Subject, error) {
	if f.lock == "" && f.worker == "" {
		return nil, nil
	}
	s := new(gate.Subject)
	var err error
	if f.worker != "" {
		if backend.Virtual() {
			return nil, errors.New("a worker is a process of its own, and backend embedded is virtual time inside of one; use --backend process, docker or external")
		}
		if s.Worker, err = (&runFlags{worker: f.worker}).workerCommand(backend); err != nil {
			return nil, err
		}
	}
	if s.Lock, err = described(ctx, s.Worker, f.worker, backend, f.lock, workersLock); err != nil {
		return nil, err
	}
	if f.guard != "" {
		guard, err := resource.FindGuard(f.guard)
		if err != nil {
			return nil, fmt.Errorf("%w (lockbench list guards)", err)
		}
		s.Guard = &guard
	}
	return s, nil
}

// replay is the command that repeats a run of the gate.
func (f *gateFlags) replay(cfg harness.Config, remedy string, ttl time.Duration) string {
	lock := cfg.Lock.Name
	if cfg.Lock.New == nil { // its worker alone knows it
		lock = ""
	}
	one := runFlags{
		scenario: cfg.Name, lock: lock, guard: cfg.Guard.String(), remedy: remedy, backend: f.backend,
		servers: f.servers, worker: f.worker, redis: f.redis, register: f.register, ttl: ttl,
	}
	return one.replay(cfg.Seed)
}

func (f *gateFlags) run(ctx context.Context, opt gate.Options, stdout, stderr io.Writer) error {
	opt.Log = stderr
	if opt.Again != nil && len(opt.Again.Rows) == 0 {
		return f.nothingFailed(opt.Again, stdout)
	}
	plan, err := gate.NewPlan(opt)
	if err != nil {
		return usage(err)
	}
	if opt.Again != nil {
		f.tellAgain(plan, opt.Again, stderr)
	}
	if mine, _ := plan.Runs(); mine == 0 {
		return nothing(plan)
	}
	if f.jobs == 0 {
		f.jobs = harness.Jobs(ctx, opt.Backend, f.worker != "")
	}
	expectServers(ctx, opt.Backend)
	res, err := play(ctx, plan, f.jobs, stderr)
	if err != nil {
		return failure(err)
	}
	var failed error
	if res.Whole() {
		res.Explored, failed = f.explore(ctx, opt, plan, stderr)
		failed = errors.Join(failed, f.keepRecord(res))
	} else {
		failed = fmt.Errorf("interrupted after %d of %d runs", len(res.Rows), res.Share)
	}
	if failed != nil {
		res.Error = failed.Error()
	}
	f.keep(res, stderr)
	if failed == nil {
		return f.out.deliver(res, stdout)
	}
	if err := f.out.deliver(res, stdout); err != nil && !res.Whole() {
		return err
	}
	return &exitError{code: exitHarness, err: failed, told: f.out.format == formatJSON}
}

// keepRecord writes what was reproduced into the track record, if there is one.
func (f *gateFlags) keepRecord(res gate.Results) error {
	if f.record == "" {
		return nil
	}
	data, err := gate.TrackRecord(f.record, res, scenarios.All(), f.commit)
	if err == nil {
		err = gate.WriteFile(f.record, data)
	}
	return err
}
