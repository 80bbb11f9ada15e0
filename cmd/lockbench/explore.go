package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
)

// deepest is how many deviations a schedule may have.
const deepest = 2

// usualDepth is how many it has unless --depth says more.
const usualDepth = 1

type exploreFlags struct {
	depth, jobs, samples int
	seed                 uint64
	budget               time.Duration
	programs             []string
	out, shard, guard    string
	json, junit, resume  string
}

func newExplore() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore LOCK",
		Short: "Look for schedules that break a lock and that nobody wrote",
		Long: `Explore lets clients use a lock in small programs, plays each of them in virtual time, and again with each deviation at each command
that crosses the wire: it is delayed, its reply gets lost, its client stands still or crashes, the server dies or forgets, a clock
jumps. What the lock breaks there is its own fault if locks of its class keep it under whatever deviation of the same kind in the
same program; otherwise it is a weakness of the class, and told as one.

A schedule that breaks the lock is made as short as it can be and written into a file, which lockbench run plays on every backend.

It exits with 0 if all schedules were played and none breaks the lock, with 1 if one does, and with 2 if none was found in
the time that there was.`,
		Example: `  lockbench explore setnx-px-get-del
  lockbench explore redsync --budget 60s
  lockbench explore fenced --guard fence
  lockbench explore rw-hash-timestamp --depth 0`,
		Args: oneLock,
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := f.options()
			if err != nil {
				return usage(err)
			}
			lock, err := f.validate(args[0], opt.Guard)
			if err != nil {
				return usage(err)
			}
			return f.run(cmd.Context(), lock, opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lockNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.depth, "depth", usualDepth, "deviations of a schedule at most: 0, 1 or 2")
	flags.DurationVar(&f.budget, "budget", 0, "how long to look (default: until all schedules are played)")
	flags.StringSliceVar(&f.programs, "program", nil, "programs, comma-separated (default: all that the lock can play)")
	flags.StringVar(&f.guard, "guard", resource.None.String(), "how sections protect the resource (lockbench list guards)")
	flags.IntVar(&f.jobs, "jobs", 0, "runs at a time (default: one per processor)")
	flags.IntVar(&f.samples, "samples", 0, "schedules of two and three deviations that are drawn besides")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of what is drawn")
	flags.StringVar(&f.shard, "shard", "1/1", "look at one part of the schedules: INDEX/COUNT, counting from 1")
	flags.StringVar(&f.json, "json", "", "write what was found into this file as JSON (docs/formats.md)")
	flags.StringVar(&f.junit, "junit", "", "write what was found into this file as JUnit's XML")
	flags.StringVar(&f.resume, "resume", "", "go on where an exploration ended that wrote this file with --json")
	flags.StringVar(&f.out, "out", filepath.Join("store", "explore"), `directory in which schedules are kept, or "none"`)
	return cmd
}

// oneLock is the argument of a command that is about a lock.
func oneLock(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Errorf("%s needs the name of one lock, found %d (lockbench list locks)", cmd.CommandPath(), len(args)))
}

func (f *exploreFlags) validate(name string, guard resource.Guard) (locks.Spec, error) {
	lock, err := libraries.Catalogue().Find(name)
	if err != nil {
		return lock, err
	}
	switch {
	case f.depth < 0 || f.depth > deepest:
		return lock, fmt.Errorf("--depth is %d, want 0 to %d", f.depth, deepest)
	case f.samples < 0:
		return lock, fmt.Errorf("--samples is %d, want 0 or more", f.samples)
	case f.budget < 0:
		return lock, fmt.Errorf("--budget is %v, want more than 0", f.budget)
	case f.jobs < 0:
		return lock, fmt.Errorf("--jobs is %d, want at least 1", f.jobs)
	}
	all, err := explore.Programs(lock, guard)
	if err != nil {
		return lock, err
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	for _, p := range f.programs {
		if err := oneOf("program", p, names); err != nil {
			return lock, err
		}
	}
	return lock, nil
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

func (f *exploreFlags) run(ctx context.Context, lock locks.Spec, opt explore.Options, stdout, stderr io.Writer) error {
	looking, cancel := context.WithCancel(ctx)
	if f.budget > 0 {
		looking, cancel = context.WithTimeout(ctx, f.budget)
	}
	defer cancel()
	how := &exploreProgress{Teller: newProgress(stderr)}
	pool, err := newPlayers(opt.Jobs)
	if err != nil {
		return failure(err)
	}
	defer pool.Close()
	opt.Play, opt.Done = pool.Play, how.done
	stop := ticking(how.tell)
	found, err := explore.Explore(looking, lock, opt)
	stop()
	how.End()
	if err != nil {
		return usage(err)
	}
	record := opt.Record(lock, found, buildVersion())
	tellHead(record, stdout)
	places := explore.Places(found.Findings)
	texts, err := f.tellAll(ctx, places, lock, opt, stdout)
	if err != nil {
		return failure(err)
	}
	for i, place := range places {
		record.Tell(place, texts[i])
	}
	if err := writeRecord(record, f.json, f.junit); err != nil {
		return failure(err)
	}
	if ctx.Err() != nil {
		return failure(errors.New("interrupted before all schedules were played; what was found until then is told above"))
	}
	return conclude(record, len(places), stdout)
}

// exploreProgress tells how many schedules were played.
type exploreProgress struct {
	*progress.Teller
	runs    atomic.Int64
	program atomic.Value // of string
}

func (e *exploreProgress) done(program string, runs int) {
	e.runs.Store(int64(runs))
	e.program.Store(program)
}

// tell is called from time to time.
func (e *exploreProgress) tell() {
	program, _ := e.program.Load().(string)
	e.Tell(progress.Unknown, words.Count(int(e.runs.Load()), "schedule"), program)
}
