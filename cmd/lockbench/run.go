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
	"golang.org/x/term"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/report"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/scenarios"
)

const (
	formatText = "text"
	formatJSON = "json"

	expectCatalogue = "catalogue"
	contendLock     = "setnx-px-lua"
	noStore         = "none"
	longestTTL      = 24 * time.Hour
)

func formats() []string { return []string{formatText, formatJSON} }

// runFlags are the flags of run as the user gave them.
type runFlags struct {
	scenario, workload, lock, guard, backend string
	format, expect, out                      string
	seed                                     uint64
	runs, clients, rounds                    int
	ttl, limit                               time.Duration
	nemesis                                  []string
	redis, register                          string
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run one scenario or workload against one lock and judge it",
		Long: `Run plays the exact steps of a scenario, or random load, against a lock, and judges the recorded history.

It exits with 0 if every property came out as the catalogue expects of that lock (--expect pass: if all hold), with 1 if
not, and with 2 if that cannot be said.

Backend external uses servers of your own: --redis host:port, or rediss://host:port/db for TLS. User and password are best
given in the environment, as LOCKBENCH_REDIS_USER and LOCKBENCH_REDIS_PASSWORD; redis://user:password@host:port works too,
and neither is ever shown. Only clients and connections fail there. A run's keys have a prefix of their own and are removed
at its end; the scripts of the locks stay in the servers' script caches.`,
		Example: `  lockbench run --scenario failover-async-repl
  lockbench run --scenario failover-async-repl --lock redlock --backend process
  lockbench run --scenario gc-pause-lease-expiry --lock fenced --guard fence
  lockbench run --workload contend --lock redlock --clients 8 --seed 7
  lockbench run --workload contend --lock fenced --guard fence --nemesis pause,restart --time-limit 60s
  lockbench run --workload contend --nemesis pause --backend external --redis localhost:6379`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.config(cmd.Flags().Changed)
			if err != nil {
				return usage(err)
			}
			return f.run(cmd.Context(), cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scenario, "scenario", "", "name or number of the scenario (lockbench list scenarios)")
	flags.StringVar(&f.workload, "workload", "", "random load instead of a scenario: "+harness.Contend)
	flags.StringVar(&f.lock, "lock", "", "lock under test (default: the one that the scenario breaks)")
	flags.StringVar(&f.guard, "guard", "", "how sections protect the resource: none, elapsed, check-token, fence or epoch (default: the scenario's)")
	flags.StringVar(&f.backend, "backend", harness.Embedded, "embedded (virtual time), process (real redis-server), docker (in containers) or external (your servers)")
	flags.StringVar(&f.redis, "redis", "", "servers of backend external, one for each master of the lock, comma-separated: host:port or redis[s]://host:port/db")
	flags.StringVar(&f.register, "register", "", "server of the protected register on backend external (default: the first of --redis)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything that is random")
	flags.IntVar(&f.runs, "runs", 1, "number of runs, with seeds counting up from --seed")
	flags.IntVar(&f.clients, "clients", 5, "clients of a workload")
	flags.IntVar(&f.rounds, "rounds", 0, "rounds of each client of a workload (default 20, or with --nemesis as many as fit into 20 TTLs)")
	flags.DurationVar(&f.limit, "time-limit", 0, "how long a workload goes on, instead of --rounds")
	flags.StringSliceVar(&f.nemesis, "nemesis", nil, "random faults during a workload, comma-separated (lockbench list nemeses)")
	flags.DurationVar(&f.ttl, "ttl", 0, "lease (default: the scenario's)")
	flags.StringVar(&f.expect, "expect", expectCatalogue, "what to expect: catalogue, pass (all properties hold) or fail (some property fails)")
	flags.StringVar(&f.out, "out", "store", `directory in which runs are kept, or "none"`)
	flags.StringVar(&f.format, "format", formatText, "text or json")
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
	complete("expect", expectations)
	complete("format", formats)
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
func (f *runFlags) config(changed func(flag string) bool) (harness.Config, error) {
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
	case f.clients < 1 || changed("rounds") && f.rounds < 1:
		return harness.Config{}, fmt.Errorf("--clients is %d and --rounds is %d, want at least 1", f.clients, f.rounds)
	case changed("ttl") && (f.ttl < time.Millisecond || f.ttl > longestTTL || f.ttl%time.Millisecond != 0):
		return harness.Config{}, fmt.Errorf("--ttl is %v, want whole milliseconds, from 1ms to %v", f.ttl, longestTTL)
	case f.limit < 0 || changed("rounds") && changed("time-limit"):
		return harness.Config{}, errors.New("--time-limit is a duration above 0, and goes without --rounds")
	case f.out == "":
		return harness.Config{}, fmt.Errorf("--out is empty, want a directory, or %q to keep nothing", noStore)
	}
	if f.scenario != "" {
		for _, flag := range []string{"clients", "rounds", "time-limit", "nemesis"} {
			if changed(flag) {
				return harness.Config{}, fmt.Errorf("--%s belongs to --workload; a scenario has its own cast and faults", flag)
			}
		}
		return f.onServers(f.scenarioConfig())
	}
	return f.onServers(f.workloadConfig())
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

func (f *runFlags) scenarioConfig() (harness.Config, error) {
	s, err := scenarios.Find(f.scenario)
	if err != nil {
		return harness.Config{}, err
	}
	f.scenario = s.Name
	broken := s.Broken()
	if f.lock == "" {
		f.lock = broken.Lock
		if f.guard == "" {
			f.guard = broken.Guard.String()
		}
	}
	lock, guard, err := f.lockAndGuard()
	if err != nil {
		return harness.Config{}, err
	}
	return harness.ForScenario(s, lock, guard, f.backend, f.ttl)
}

func (f *runFlags) workloadConfig() (harness.Config, error) {
	if err := oneOf("workload", f.workload, harness.Workloads()); err != nil {
		return harness.Config{}, err
	}
	if f.lock == "" {
		f.lock = contendLock
	}
	lock, guard, err := f.lockAndGuard()
	if err != nil {
		return harness.Config{}, err
	}
	return harness.ForContend(harness.Load{Clients: f.clients, Rounds: f.rounds, Limit: f.limit, Nemesis: f.nemesis}, lock, guard, f.backend, f.ttl)
}

func (f *runFlags) lockAndGuard() (locks.Spec, resource.Guard, error) {
	if f.guard == "" {
		f.guard = resource.None.String()
	}
	lock, err := locks.Find(f.lock)
	if err != nil {
		return locks.Spec{}, 0, err
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
			b.WriteString(" --" + flag + " " + value)
		}
	}
	add("scenario", f.scenario)
	add("workload", f.workload)
	add("lock", f.lock)
	if f.guard != resource.None.String() {
		add("guard", f.guard)
	}
	if f.backend != harness.Embedded {
		add("backend", f.backend)
	}
	add("redis", f.redis)
	add("register", f.register)
	if f.workload != "" {
		add("clients", fmt.Sprint(f.clients))
		if f.limit > 0 {
			add("time-limit", f.limit.String())
		}
		if f.rounds > 0 {
			add("rounds", fmt.Sprint(f.rounds))
		}
		add("nemesis", strings.Join(f.nemesis, ","))
	}
	if f.ttl != 0 {
		add("ttl", f.ttl.String())
	}
	add("seed", fmt.Sprint(seed))
	return b.String()
}

// run runs cfg f.runs times. One run is told in full; of several, each gets a line, and
// the first that did not come out as expected is told in full.
func (f *runFlags) run(ctx context.Context, cfg harness.Config, stdout, stderr io.Writer) error {
	if f.out != noStore {
		cfg.Out = f.out
	}
	cfg.Version = buildVersion()
	cfg.Log = stderr
	style := styleOf(stdout)
	worst, told := checker.AsExpected, false
	count := map[checker.Outcome]int{}
	for i := range f.runs {
		if ctx.Err() != nil {
			return failure(f.interrupted(i))
		}
		cfg.Seed = f.seed + uint64(i)
		cfg.Command = f.replay(cfg.Seed)
		res, err := harness.Run(ctx, cfg)
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				err = f.interrupted(i)
			}
			if res.Dir != "" && len(res.Events) > 0 {
				err = fmt.Errorf("%w\nwhat was recorded is kept in %s", err, res.Dir)
			}
			return failure(err)
		}
		if f.expect != expectCatalogue {
			var want checker.Verdict
			if err := want.UnmarshalText([]byte(f.expect)); err != nil {
				return usage(err)
			}
			if res.Outcome, res.Expected, err = checker.CompareAll(res.Report, want); err != nil {
				return usage(err)
			}
		}
		count[res.Outcome]++
		worst = checker.Worse(worst, res.Outcome)
		drawn := draw(res, f)
		switch {
		case f.format == formatJSON:
			err = report.JSON(stdout, drawn)
		case f.runs == 1 || res.Outcome != checker.AsExpected && !told:
			told = true
			err = report.Text(stdout, drawn, style)
		default:
			err = report.Line(stdout, drawn, style)
		}
		if err != nil {
			return failure(err)
		}
	}
	if f.runs > 1 && f.format == formatText {
		if _, err := fmt.Fprintf(stdout, "%d runs: %d as expected, %d not, %d unknown\n",
			f.runs, count[checker.AsExpected], count[checker.Unexpected], count[checker.Undecided]); err != nil {
			return failure(err)
		}
	}
	switch worst {
	case checker.AsExpected:
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

// styleOf looks at what stdout is: colour only on a terminal, and never with NO_COLOR.
func styleOf(stdout io.Writer) report.Style {
	f, ok := stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return report.Style{Width: 120}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return report.Style{Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", Width: width}
}

// draw is a result as the report room takes it.
func draw(res harness.Result, f *runFlags) report.Run {
	r := report.Run{
		Meta: res.Meta, Report: res.Report, Outcome: res.Outcome, Expected: res.Expected,
		Why: res.Config.Why, Note: res.Config.Note, Dir: res.Dir, Events: res.Events, Exchanges: res.Exchanges,
	}
	for _, c := range res.Config.Survivors {
		if c.Lock == f.lock && c.Guard.String() == f.guard {
			continue
		}
		other := *f
		other.lock, other.guard = c.Lock, c.Guard.String()
		r.Survivors = append(r.Survivors, other.replay(res.Meta.Seed))
	}
	return r
}
