package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/scenarios"
)

// runFlags are the flags of run as the user gave them.
type runFlags struct {
	scenario, workload, lock, guard, backend string
	remedy                                   string
	format, expect, out                      string
	seed                                     uint64
	seeded                                   bool // the user said so
	runs, clients, rounds, keys              int
	rate                                     float64
	ttl, limit                               time.Duration
	nemesis                                  []string
	redis, register, worker                  string
	servers                                  serverFlags
	failFast                                 bool
	pages                                    pages
	lang                                     spoken              // of the page
	better                                   []scenarios.Case    // than the lock, under the steps of the scenario
	own                                      *scenarios.Scenario // the schedule of the user's that is played; nil: there is none
}

// flags adds the flags to a command.
func (f *runFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scenario, "scenario", "", "name or number of the scenario (lockbench list scenarios), or a file with a schedule")
	flags.StringVar(&f.workload, "workload", "", "random load instead of a scenario: "+strings.Join(harness.Workloads(), ", "))
	flags.StringVar(&f.lock, "lock", "", "lock under test (default: the one that the scenario breaks, or one that the workload fits)")
	flags.StringVar(&f.guard, "guard", "", "how sections protect the resource: "+strings.Join(guardNames(), ", ")+" (default: the scenario's)")
	flags.StringVar(&f.remedy, "remedy", "", "what the servers are given against a scenario's pitfall (lockbench list scenarios)")
	flags.StringVar(&f.backend, "backend", defaultBackend(), "where the servers live: "+describe(backends()))
	f.servers.flags(cmd)
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
	flags.StringVar(&f.out, "out", usualStore(os.Getenv), `directory in which runs are kept, or "none"`)
	f.lang.flag(cmd)
	formatFlag(cmd, &f.format)
	f.pages.flags(cmd)
	f.complete(cmd)
}

// complete lets a shell complete the values of the flags.
func (f *runFlags) complete(cmd *cobra.Command) {
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
	complete("backend", backendNames)
	nothing := func() []string { return nil } // not the names of files
	complete("redis", nothing)
	complete("register", nothing)
	complete("worker", func() []string { return []string{workerSelf, workerNone} })
	complete("expect", expectations)
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
	for _, l := range libraries.Catalogue() {
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
