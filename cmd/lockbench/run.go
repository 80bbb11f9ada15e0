package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/peers"
	"github.com/lockbench/lockbench/report"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/scenarios"
)

const (
	formatText = "text"
	formatJSON = "json"

	expectCatalogue = "catalogue"
	noStore         = "none"
	longestTTL      = 24 * time.Hour
	mostClients     = 1000
	mostRounds      = 1_000_000
	mostKeys        = 1000
	highestRate     = 1e6
)

func formats() []string { return []string{formatText, formatJSON} }

// runFlags are the flags of run as the user gave them.
type runFlags struct {
	scenario, workload, lock, guard, backend string
	remedy                                   string
	format, expect, out                      string
	seed                                     uint64
	runs, clients, rounds, keys              int
	rate                                     float64
	ttl, limit                               time.Duration
	nemesis                                  []string
	redis, register, worker                  string
	failFast                                 bool
	pages                                    pages
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [NAME]",
		Short: "Run one scenario or workload against one lock and judge it",
		Long: `Run plays the exact steps of a scenario, or random load, against a lock, and judges the recorded history. NAME is a
scenario, the number of its pitfall, a demo of it, or a workload; --scenario and --workload say so at length.

It exits with 0 if every property came out as the catalogue expects of that lock (--expect pass: if all hold), with 1 if
not, with 2 if that cannot be said, and with 3 if lock, scenario, guard, faults and backend do not go together. Of random
load it exits with 1 for the lock's own faults alone: what other locks of its class keep under the same load and faults.

Backend external uses servers of your own: --redis host:port, or rediss://host:port/db for TLS. User and password are best
given in the environment, as LOCKBENCH_REDIS_USER and LOCKBENCH_REDIS_PASSWORD; redis://user:password@host:port works too,
and neither is ever shown. Only clients and connections fail there. A run's keys have a prefix of their own and are removed
at its end; the scripts of the locks stay in the servers' script caches.`,
		Example: `  lockbench run P07
  lockbench run --scenario failover-async-repl
  lockbench run --scenario failover-async-repl --lock redlock --backend process
  lockbench run --scenario gc-pause-lease-expiry --lock fenced --guard fence
  lockbench run --workload contend --lock redlock --clients 8 --seed 7
  lockbench run --workload contend --lock fenced --guard fence --nemesis pause,restart --time-limit 60s
  lockbench run --workload readwrite --lock rw-hash --keys 3 --rate 100 --time-limit 30s
  lockbench run --workload contend --nemesis pause --backend external --redis localhost:6379
  lockbench run --scenario get-del-race --backend process --worker 'python3 examples/python/worker.py' --lock setnx-px-lua`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("%s takes one name, found %d (%[1]s --help)", cmd.CommandPath(), len(args)))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return scenarioNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.take(args); err != nil {
				return misuse(err)
			}
			cfg, err := f.config(cmd.Context(), cmd.Flags().Changed)
			if err != nil {
				return misuse(err)
			}
			return f.run(cmd.Context(), cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scenario, "scenario", "", "name or number of the scenario (lockbench list scenarios)")
	flags.StringVar(&f.workload, "workload", "", "random load instead of a scenario: "+strings.Join(harness.Workloads(), ", "))
	flags.StringVar(&f.lock, "lock", "", "lock under test (default: the one that the scenario breaks, or one that the workload fits)")
	flags.StringVar(&f.guard, "guard", "", "how sections protect the resource: none, elapsed, check-token, fence, epoch or done-marker (default: the scenario's)")
	flags.StringVar(&f.remedy, "remedy", "", "what the servers are given against a scenario's pitfall (lockbench list scenarios)")
	flags.StringVar(&f.backend, "backend", harness.Embedded, "embedded (virtual time), process (real redis-server), docker (in containers) or external (your servers)")
	flags.StringVar(&f.redis, "redis", "", "servers of backend external, one for each master of the lock, comma-separated: host:port or redis[s]://host:port/db")
	flags.StringVar(&f.register, "register", "", "server of the protected register on backend external (default: the first of --redis)")
	flags.StringVar(&f.worker, "worker", "", "command of a process that each client runs in (docs/worker-protocol.md), self for this program, none for no processes (default: self with --nemesis pause or crash on real servers)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything that is random")
	flags.IntVar(&f.runs, "runs", 1, "number of runs, with seeds counting up from --seed")
	flags.IntVar(&f.clients, "clients", 5, "clients of a workload")
	flags.IntVar(&f.rounds, "rounds", 0, "rounds of each client of a workload (default 20, or with --nemesis as many as fit into 20 TTLs)")
	flags.DurationVar(&f.limit, "time-limit", 0, "how long a workload goes on, instead of --rounds")
	flags.Float64Var(&f.rate, "rate", 0, "rounds that begin per second, of all clients together and on average (default: as think times allow)")
	flags.IntVar(&f.keys, "keys", 1, "keys that the clients of a workload choose from")
	flags.StringSliceVar(&f.nemesis, "nemesis", nil, "random faults during a workload, comma-separated (lockbench list nemeses)")
	flags.DurationVar(&f.ttl, "ttl", 0, "lease (default: the scenario's)")
	flags.StringVar(&f.expect, "expect", expectCatalogue, "what to expect: catalogue (of random load: no fault of the lock's own), pass (all properties hold) or fail (some property fails)")
	flags.BoolVar(&f.failFast, "fail-fast", false, "end a workload at the first violation, and --runs after the first run that is not as expected; verdicts stay the same")
	flags.StringVar(&f.out, "out", "store", `directory in which runs are kept, or "none"`)
	formatFlag(cmd, &f.format)
	f.pages.flags(cmd)
	complete := func(name string, values func() []string) {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	complete("scenario", scenarioNames)
	complete("workload", harness.Workloads)
	complete("lock", lockNames)
	complete("guard", guardNames)
	complete("nemesis", harness.Nemeses)
	complete("backend", harness.Backends)
	nothing := func() []string { return nil } // not the names of files
	complete("redis", nothing)
	complete("register", nothing)
	complete("worker", func() []string { return []string{workerSelf, workerNone} })
	complete("expect", expectations)
	return cmd
}

func scenarioNames() []string {
	var names []string
	for _, s := range scenarios.All() {
		names = append(names, s.Name)
	}
	return names
}

func lockNames() []string {
	var names []string
	for _, l := range locks.All() {
		names = append(names, l.Name)
	}
	return names
}

func guardNames() []string {
	var names []string
	for _, g := range resource.Guards() {
		names = append(names, g.String())
	}
	return names
}

func expectations() []string {
	return []string{expectCatalogue, checker.Pass.String(), checker.Fail.String()}
}

// config turns flags into what the harness runs. changed says which flags were given.
func (f *runFlags) config(ctx context.Context, changed func(flag string) bool) (harness.Config, error) {
	if (f.scenario == "") == (f.workload == "") {
		return harness.Config{}, errors.New("run needs --scenario or --workload, and not both (lockbench list)")
	}
	for _, check := range []error{
		oneOf("backend", f.backend, harness.Backends()),
		oneOf("format", f.format, formats()),
		oneOf("expectation", f.expect, expectations()),
	} {
		if check != nil {
			return harness.Config{}, check
		}
	}
	switch {
	case f.runs < 1:
		return harness.Config{}, fmt.Errorf("--runs is %d, want at least 1", f.runs)
	case f.clients < 1 || f.clients > mostClients:
		return harness.Config{}, fmt.Errorf("--clients is %d, want 1 to %d", f.clients, mostClients)
	case changed("rounds") && (f.rounds < 1 || f.rounds > mostRounds):
		return harness.Config{}, fmt.Errorf("--rounds is %d, want 1 to %d", f.rounds, mostRounds)
	case changed("ttl") && (f.ttl < time.Millisecond || f.ttl > longestTTL || f.ttl%time.Millisecond != 0):
		return harness.Config{}, fmt.Errorf("--ttl is %v, want whole milliseconds, from 1ms to %v", f.ttl, longestTTL)
	case f.limit < 0 || changed("rounds") && changed("time-limit"):
		return harness.Config{}, errors.New("--time-limit is a duration above 0, and goes without --rounds")
	case changed("rate") && !(f.rate > 0 && f.rate <= highestRate):
		return harness.Config{}, fmt.Errorf("--rate is %v, want rounds per second, above 0 and up to %.0f", f.rate, highestRate)
	case f.keys < 1 || f.keys > mostKeys:
		return harness.Config{}, fmt.Errorf("--keys is %d, want 1 to %d", f.keys, mostKeys)
	case f.out == "":
		return harness.Config{}, fmt.Errorf("--out is empty, want a directory, or %q to keep nothing", noStore)
	}
	if err := f.pages.validate(); err != nil {
		return harness.Config{}, err
	}
	if f.workload != "" && f.remedy != "" {
		return harness.Config{}, errors.New("--remedy belongs to --scenario; a workload has none")
	}
	if f.scenario != "" {
		for _, flag := range []string{"clients", "rounds", "time-limit", "rate", "keys", "nemesis"} {
			if changed(flag) {
				return harness.Config{}, fmt.Errorf("--%s belongs to --workload; a scenario has its own cast and faults", flag)
			}
		}
		return f.onServers(f.employed(f.scenarioConfig(ctx)))
	}
	return f.onServers(f.employed(f.workloadConfig(ctx)))
}

// employed adds the clients' processes.
func (f *runFlags) employed(cfg harness.Config, err error) (harness.Config, error) {
	if err != nil {
		return cfg, err
	}
	command, err := f.workerCommand()
	if err != nil {
		return cfg, err
	}
	return cfg.WithWorkers(command)
}

// onServers adds the user's own servers to what backend external runs.
func (f *runFlags) onServers(cfg harness.Config, err error) (harness.Config, error) {
	switch {
	case err != nil:
		return cfg, err
	case f.backend == harness.External:
		servers, err := harness.ParseServers(f.redis, f.register, os.Getenv("LOCKBENCH_REDIS_USER"), os.Getenv("LOCKBENCH_REDIS_PASSWORD"))
		if err != nil {
			return cfg, err
		}
		f.redis, f.register = servers.Masters(), servers.Register() // without passwords, for the replay command
		return cfg.OnServers(servers)
	case f.redis != "" || f.register != "":
		return cfg, errors.New("--redis and --register belong to --backend external; the other backends bring their own servers")
	}
	return cfg, nil
}

func (f *runFlags) scenarioConfig(ctx context.Context) (harness.Config, error) {
	s, err := scenarioNamed(f.scenario)
	if err != nil {
		return harness.Config{}, err
	}
	f.scenario = s.Name
	broken := s.Broken()
	if f.lock == "" && f.guard == "" {
		f.guard = broken.Guard.String()
	}
	lock, guard, err := f.lockAndGuard(ctx, broken.Lock)
	if err != nil {
		return harness.Config{}, err
	}
	if s, err = s.With(f.remedy); err != nil {
		return harness.Config{}, err
	}
	return harness.ForScenario(s, lock, guard, f.backend, f.ttl)
}

func (f *runFlags) workloadConfig(ctx context.Context) (harness.Config, error) {
	if err := oneOf("workload", f.workload, harness.Workloads()); err != nil {
		return harness.Config{}, err
	}
	usual, err := harness.DefaultLock(f.workload)
	if err != nil {
		return harness.Config{}, err
	}
	lock, guard, err := f.lockAndGuard(ctx, usual)
	if err != nil {
		return harness.Config{}, err
	}
	load := harness.Load{
		Workload: f.workload, Clients: f.clients, Rounds: f.rounds, Limit: f.limit, Rate: f.rate, Keys: f.keys, Nemesis: f.nemesis,
	}
	cfg, err := harness.ForWorkload(load, lock, guard, f.backend, f.ttl)
	if err == nil {
		cfg.Peers = (&peers.Load{Load: load, Guard: guard, TTL: cfg.TTL, Version: buildVersion()}).Measure
	}
	return cfg, err
}

// lockAndGuard returns what is tested. usual is the lock of the catalogue that is, unless the
// user names another one or has a worker with a lock of its own.
func (f *runFlags) lockAndGuard(ctx context.Context, usual string) (locks.Spec, resource.Guard, error) {
	if f.guard == "" {
		f.guard = resource.None.String()
	}
	command, err := f.workerCommand()
	if err != nil {
		return locks.Spec{}, 0, err
	}
	lock, err := described(ctx, command, f.worker, f.backend, f.lock, usual)
	if err != nil {
		return locks.Spec{}, 0, err
	}
	if f.lock == "" && lock.New != nil { // for the replay command
		f.lock = lock.Name
	}
	if err := oneOf("guard", f.guard, guardNames()); err != nil {
		return locks.Spec{}, 0, err
	}
	for _, g := range resource.Guards() {
		if g.String() == f.guard {
			return lock, g, nil
		}
	}
	return lock, resource.None, nil
}

// replay is the command that repeats the run with this seed.
func (f *runFlags) replay(seed uint64) string {
	var b strings.Builder
	b.WriteString("lockbench run")
	add := func(flag, value string) {
		if value != "" {
			b.WriteString(" --" + flag + " " + quoted(value))
		}
	}
	add("scenario", f.scenario)
	add("workload", f.workload)
	add("lock", f.lock)
	if f.guard != resource.None.String() {
		add("guard", f.guard)
	}
	add("remedy", f.remedy)
	if f.backend != harness.Embedded {
		add("backend", f.backend)
	}
	add("redis", f.redis)
	add("register", f.register)
	if f.worker != "" {
		add("worker", f.worker)
	}
	if f.workload != "" {
		add("clients", fmt.Sprint(f.clients))
		if f.limit > 0 {
			add("time-limit", f.limit.String())
		}
		if f.rounds > 0 {
			add("rounds", fmt.Sprint(f.rounds))
		}
		if f.rate > 0 {
			add("rate", fmt.Sprint(f.rate))
		}
		if f.keys > 1 {
			add("keys", fmt.Sprint(f.keys))
		}
		add("nemesis", strings.Join(f.nemesis, ","))
		if f.failFast {
			b.WriteString(" --fail-fast")
			if f.expect != expectCatalogue { // it says what is given up, and so when the load ends
				add("expect", f.expect)
			}
		}
	}
	if f.ttl != 0 {
		add("ttl", f.ttl.String())
	}
	add("seed", fmt.Sprint(seed))
	return b.String()
}

// run runs cfg f.runs times. One run is told in full; of several, each gets a line, and
// the first that did not come out as expected is told in full.
// mostAgain is how often a scenario is played again of which nothing is known because lockbench, or
// the machine, stood still.
const mostAgain = 4

// settled plays one run, and a scenario again if a standstill leaves nothing to be said of it.
func (f *runFlags) settled(ctx context.Context, cfg harness.Config) (harness.Result, error) {
	for again := 1; ; again++ {
		res, err := harness.Run(ctx, cfg)
		if err != nil || f.scenario == "" || res.Outcome != checker.Undecided || !res.Stalled() || again > mostAgain || ctx.Err() != nil {
			return res, err
		}
		fmt.Fprintln(cfg.Log, "lockbench: during the run lockbench, or the machine, stood still, and nothing can be said of it; playing it again")
	}
}

func (f *runFlags) run(ctx context.Context, cfg harness.Config, stdout, stderr io.Writer) error {
	expectContainers(ctx, cfg.Backend)
	if f.out != noStore {
		cfg.Out = f.out
	}
	cfg.Version = buildVersion()
	if cfg.FailFast = f.failFast; f.expect != expectCatalogue {
		cfg.Want = nil // all properties count, for the lookout too
		if err := cfg.Expect.UnmarshalText([]byte(f.expect)); err != nil {
			return usage(err)
		}
	}
	style := styleOf(stdout)
	how := &runsProgress{Teller: newProgress(stderr), runs: f.runs, limit: cfg.Limit}
	stop := ticking(how.tell)
	defer func() { stop(); how.End() }()
	stdout, cfg.Log = how.Beside(stdout), how.Beside(stderr)
	cfg.Seen = func(at time.Duration) { how.seen.Store(int64(at)) }
	worst, told, undrawn, runs := checker.AsExpected, false, false, 0
	count := map[checker.Outcome]int{}
	var drawings []report.Run // of which files are to be written
	for i := range f.runs {
		if ctx.Err() != nil {
			return f.failed(f.unbegun(f.seed+uint64(i)), f.interrupted(i), drawings, stdout)
		}
		cfg.Seed = f.seed + uint64(i)
		cfg.Command, cfg.Alternatives = f.replay(cfg.Seed), f.alternatives(cfg)
		res, err := f.settled(ctx, cfg)
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				err = f.interrupted(i)
			}
			if res.Dir != "" {
				err = fmt.Errorf("%w\nwhat was recorded is kept in %s", err, res.Dir)
			}
			drawn := draw(res)
			return f.failed(drawn, keepFailed(&drawn, err), drawings, stdout)
		}
		runs++
		how.next()
		count[res.Outcome]++
		worst = checker.Worse(worst, res.Outcome)
		drawn := draw(res)
		if err := keepPage(&drawn); err != nil {
			fmt.Fprintln(cfg.Log, "lockbench: "+err.Error())
			undrawn = true
		}
		drawings = f.pages.keep(drawings, drawn)
		switch {
		case f.format == formatJSON:
			err = f.json(stdout, drawn)
		case f.runs == 1 || res.Outcome != checker.AsExpected && !told:
			told = true
			err = report.Text(stdout, drawn, style)
		default:
			err = report.Line(stdout, drawn, style)
		}
		if err != nil {
			return failure(err)
		}
		if f.failFast && res.Outcome != checker.AsExpected {
			break
		}
	}
	if f.runs > 1 && f.format == formatText {
		made := fmt.Sprintf("%d runs", runs)
		if runs < f.runs {
			made = fmt.Sprintf("%d of %d runs, ended by --fail-fast", runs, f.runs)
		}
		if _, err := fmt.Fprintf(stdout, "%s: %d as expected, %d not, %d unknown\n",
			made, count[checker.AsExpected], count[checker.Unexpected], count[checker.Undecided]); err != nil {
			return failure(err)
		}
	}
	if err := f.pages.runs(drawings); err != nil {
		return failure(err)
	}
	switch worst {
	case checker.AsExpected:
		if undrawn { // it was told; a verdict that is bad says more
			return &exitError{code: exitHarness}
		}
		return nil
	case checker.Unexpected:
		return &exitError{code: exitUnexpected}
	default:
		return &exitError{code: exitUnknown}
	}
}

// interrupted says how far the runs came.
func (f *runFlags) interrupted(done int) error {
	return fmt.Errorf("interrupted after %d of %d runs", done, f.runs)
}

// alternatives are the commands that play the same steps against the locks that survive them.
func (f *runFlags) alternatives(cfg harness.Config) []string {
	var commands []string
	for _, c := range cfg.Survivors {
		if c.Lock == f.lock && c.Guard.String() == f.guard && c.Remedy == f.remedy {
			continue
		}
		lock, err := locks.Find(c.Lock)
		if err != nil || !lock.Sound {
			continue
		}
		// The catalogue's lock, and not the worker's under its name; where the backend cannot
		// have it, in virtual time.
		other := *f
		other.lock, other.guard, other.remedy, other.worker = c.Lock, c.Guard.String(), c.Remedy, ""
		if f.backend == harness.External {
			other.backend, other.redis, other.register = harness.Embedded, "", ""
		}
		commands = append(commands, other.replay(cfg.Seed))
	}
	return commands
}
