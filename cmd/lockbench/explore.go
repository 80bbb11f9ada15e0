package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
)

// deepest is how many deviations a schedule may have.
const deepest = 2

// usualDepth is how many it has unless --depth says more.
const usualDepth = 1

// wholeShard is --shard of all that there is.
const wholeShard = "1/1"

// usualBudget is for how long a lock is explored on real servers unless --budget says otherwise.
const usualBudget = time.Minute

type exploreFlags struct {
	depth, jobs, samples int
	seed                 uint64
	budget               time.Duration
	programs             []string
	out, shard, guard    string
	json, junit, resume  string
	backend, worker      string
	servers              serverFlags
}

func newExplore() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore [LOCK]",
		Short: "Look for schedules that break a lock and that nobody wrote",
		Long: `Explore lets clients use a lock in small programs, plays each of them in virtual time, and again with each deviation at each command
that crosses the wire: it is delayed, its reply gets lost, its client stands still or crashes, the server dies or forgets, a clock
jumps. What the lock breaks there is its own fault if locks of its class keep it under whatever deviation of the same kind in the
same program; otherwise it is a weakness of the class, and told as one.

A schedule that breaks the lock is made as short as it can be and written into a file, which lockbench run plays on every backend. In
virtual time the page of its run stands beside it, and index.html has what is known of each property under each kind of deviation.

With --worker it is a lock in any language that is looked at (docs/worker-protocol.md), and LOCK, if it is there, is the one whose
promises it makes. It is played on real servers, with leases of half a second, and with the time that this takes: first what broke
other locks (docs/explored.md), then all programs in fair weather, then one deviation after another, for as long as --budget says.
What breaks it is played a second time before it counts, and also with another lock. That is what it is measured by, in virtual
time otherwise. Making what was found shorter takes as long again at most.

It exits with 0 if all schedules were played and none breaks the lock, with 1 if one does, and with 2 if none was found in
the time that there was.`,
		Example: `  lockbench explore setnx-px-get-del
  lockbench explore redsync --budget 60s
  lockbench explore fenced --guard fence
  lockbench explore rw-hash-timestamp --depth 0
  lockbench explore --worker 'python3 my_lock.py' --budget 10m`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.worker != "" && len(args) == 0 {
				return nil
			}
			return oneLock(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.search(cmd.Context(), strings.Join(args, ""), cmd.Flags().Changed)
			if err != nil {
				return misuse(err)
			}
			return f.run(cmd.Context(), s, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lockNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.depth, "depth", usualDepth, "deviations of a schedule at most: 0, 1 or 2")
	flags.DurationVar(&f.budget, "budget", 0, fmt.Sprintf("how long to look (default: until all schedules are played; on real servers %v)", usualBudget))
	flags.StringVar(&f.worker, "worker", "", "command of a process that each client runs in, with a lock of your own (docs/worker-protocol.md), or self")
	flags.StringVar(&f.backend, "backend", defaultBackend(), "where the lock is played: "+describe(ownBackends())+" (default with --worker: process)")
	flags.StringSliceVar(&f.programs, "program", nil, "programs, comma-separated (default: all that the lock can play)")
	flags.StringVar(&f.guard, "guard", resource.None.String(), "how sections protect the resource (lockbench list guards)")
	flags.IntVar(&f.jobs, "jobs", 0, "runs at a time (default: one per processor; on real servers as lockbench gate)")
	flags.IntVar(&f.samples, "samples", 0, "schedules of two and three deviations that are drawn besides")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of what is drawn")
	flags.StringVar(&f.shard, "shard", wholeShard, "look at one part of the schedules: INDEX/COUNT, counting from 1")
	f.servers.flags(cmd)
	f.files(cmd)
	return cmd
}

// files adds the flags that name files and directories to a command.
func (f *exploreFlags) files(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.json, "json", "", "write what was found into this file as JSON (docs/formats.md)")
	flags.StringVar(&f.junit, "junit", "", "write what was found into this file as JUnit's XML")
	flags.StringVar(&f.resume, "resume", "", "go on where an exploration ended that wrote this file with --json")
	flags.StringVar(&f.out, "out", exploredIn(usualStore(os.Getenv)), `directory in which schedules are kept, or "none"`)
}

// oneLock is the argument of a command that is about a lock.
func oneLock(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Errorf("%s needs the name of one lock, found %d (lockbench list locks)", cmd.CommandPath(), len(args)))
}

// validate returns what of the flags cannot be, for a lock.
func (f *exploreFlags) validate(lock locks.Spec, guard resource.Guard, servers bool) error {
	switch {
	case f.depth < 0 || f.depth > deepest:
		return fmt.Errorf("--depth is %d, want 0 to %d", f.depth, deepest)
	case f.samples < 0:
		return fmt.Errorf("--samples is %d, want 0 or more", f.samples)
	case f.budget < 0:
		return fmt.Errorf("--budget is %v, want more than 0", f.budget)
	case f.jobs < 0:
		return fmt.Errorf("--jobs is %d, want at least 1", f.jobs)
	case servers && (f.depth == deepest || f.samples > 0 || f.shard != wholeShard || f.resume != ""):
		return fmt.Errorf("--depth %d, --samples, --shard and --resume are for virtual time: on real servers one thing happens at most, for as long as --budget says", deepest)
	}
	all, err := explore.Programs(lock, guard)
	if err != nil {
		return err
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	for _, p := range f.programs {
		if err := oneOf("program", p, names); err != nil {
			return err
		}
	}
	return nil
}

// search is what the flags mean. lock is empty if a worker says what its lock is.
func (f *exploreFlags) search(ctx context.Context, lock string, changed func(flag string) bool) (*search, error) {
	if f.worker != "" && !changed("backend") {
		f.backend = harness.Process().Name
	}
	backend, err := backendNamed(f.backend, ownBackends())
	if err == nil {
		backend, err = f.servers.on(ctx, backend)
	}
	if err != nil {
		return nil, err
	}
	s := &search{budget: f.budget, out: f.out}
	if s.opt, err = f.options(); err != nil {
		return nil, err
	}
	if lock != "" {
		if s.lock, err = libraries.Catalogue().Find(lock); err != nil {
			return nil, err
		}
	}
	if !backend.Virtual() {
		if s.lock, err = s.at(ctx, backend, f.worker, lock); err != nil {
			return nil, err
		}
		s.servers = f.servers.arguments()
		if s.budget == 0 {
			s.budget = usualBudget
		}
		if f.jobs == 0 {
			s.opt.Jobs = harness.Jobs(ctx, backend, f.worker != "")
		}
	} else if f.worker != "" {
		return nil, errVirtualWorker
	}
	return s, f.validate(s.lock, s.opt.Guard, !backend.Virtual())
}

// options are what is meant, without who plays it.
func (f *exploreFlags) options() (opt explore.Options, err error) {
	shard, err := gate.ParseShard(f.shard)
	if err != nil {
		return opt, err
	}
	for _, name := range []string{f.json, f.junit} {
		if name == "" {
			continue
		}
		if err := gate.CanWrite(name); err != nil {
			return opt, err
		}
	}
	guard, err := resource.FindGuard(f.guard)
	if err != nil {
		return opt, err
	}
	opt = explore.Options{
		Guard: guard, Depth: f.depth, Samples: f.samples, Seed: f.seed, Shard: shard.Index - 1, Shards: shard.Of,
		Programs: f.programs, Among: libraries.Catalogue(), Jobs: f.jobs,
	}
	if f.resume != "" {
		r, err := readRecord(f.resume)
		if err != nil {
			return opt, err
		}
		if r.Version != buildVersion() {
			return opt, fmt.Errorf("%s was written by lockbench %s, and this is %s: another version may play other schedules; explore from the beginning", f.resume, r.Version, buildVersion())
		}
		opt.Resume = &r
	}
	if opt.Jobs == 0 {
		opt.Jobs = runtime.GOMAXPROCS(0)
	}
	return opt, nil
}

// readRecord reads what an exploration wrote with --json.
func readRecord(name string) (explore.Record, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return explore.Record{}, err
	}
	r, err := explore.ReadRecord(data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (f *exploreFlags) run(ctx context.Context, s *search, stdout, stderr io.Writer) error {
	expectServers(ctx, s.backend)
	var record explore.Record
	var all []told
	err := withPlayers(s.players(), stderr, func(play explore.Player, how *exploreProgress) (err error) {
		s.opt.Play = play
		record, all, err = s.look(ctx, how)
		return err
	})
	if err != nil {
		return err
	}
	tellHead(record, unlessTerse(stdout))
	tellAll(all, unlessTerse(stdout))
	if err := writeRecord(record, f.json, f.junit); err != nil {
		return failure(err)
	}
	if ctx.Err() != nil {
		return failure(errors.New("interrupted before all schedules were played; what was found until then is told above"))
	}
	page, err := s.writeIndex(record, all)
	if err != nil {
		return failure(err)
	}
	exit := conclude(record, len(all), stdout)
	if page != "" {
		fmt.Fprintf(unlessTerse(stdout), "Report:  %s\n", page)
	}
	return exit
}

// exploreProgress tells how many schedules were played, and how many of them broke something that a lock can keep.
type exploreProgress struct {
	*progress.Teller
	runs    atomic.Int64
	found   atomic.Int64
	program atomic.Value // of string
}

func (e *exploreProgress) done(program string, runs int) {
	e.runs.Store(int64(runs))
	e.program.Store(program)
}

// tell is called from time to time.
func (e *exploreProgress) tell() {
	program, _ := e.program.Load().(string)
	done := words.Count(int(e.runs.Load()), "schedule")
	if n := e.found.Load(); n > 0 {
		done += fmt.Sprintf(", %d found", n)
	}
	e.Tell(progress.Unknown, done, program)
}
