package locktest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// found is the directory beside a test in which schedules lie that break its lock, or have broken it.
const found = "testdata/lockbench"

const (
	// margin is how long before the deadline of a test Explore ends, to tell what it has found.
	margin = 10 * time.Second
	// short is for how long Explore looks under -short.
	short = 5 * time.Second
)

// Explore looks for schedules that break the lock and that nobody wrote: clients use the lock in small programs, and each
// command that they send is met by each fault (a delay, a lost reply, a pause, a crash, a restart, a clock that jumps), or by
// as many of them as Depth says. It fails for what locks of the same class keep under faults of the same kind, by the shortest
// schedule that shows it, which it writes to testdata/lockbench: keep the file, and Replay plays it again.
//
// It takes from seconds to minutes. It ends ten seconds before the deadline of the test (go test -timeout), after as long as For
// says, or after five seconds under -short, and tells how far it came.
func Explore(t *testing.T, lock Lock, opts ...Option) {
	t.Helper()
	outside(t, "Explore")
	r := newTest(t, lock, newOptions(t, opts))
	ctx, cancel := r.bounded(t)
	defer cancel()
	opt := r.search()
	opt.Depth, opt.Samples, opt.Jobs = r.depth, r.samples, runtime.GOMAXPROCS(0)
	if !r.backend.Virtual() {
		opt.Depth, opt.Samples = min(opt.Depth, 1), 0
		opt.Servers = func(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
			return explore.RunOnServers(ctx, p, lock, r.backend, nil)
		}
	}
	all, err := explore.Explore(ctx, r.spec, opt)
	if err != nil {
		t.Fatalf("the search could not be made: %v", err)
	}
	for _, f := range explore.Places(all.Findings) {
		small, _, err := explore.Shrink(t.Context(), f, r.spec, opt)
		if err == nil {
			err = r.found(t, small, opt, r.spec.Name, write)
		}
		if err != nil {
			t.Errorf("%s: what was found cannot be shown: %v", f.Title(), err)
		}
	}
	t.Logf("%s of %d of %s explored whole: %s, and %s of other locks", words.Count(int(all.Schedules), "schedule"), len(all.Done),
		words.Count(len(all.Meant), "program"), words.Count(all.Runs, "run"), words.Count(all.Measures, "run"))
}

// search is what searches have in common.
func (r *test) search() explore.Options {
	opt := explore.Options{Play: explore.InProcess(), Among: r.among, Stranger: !r.known, Seed: r.seed}
	for _, group := range r.spec.References(!r.known, locks.Steps{}, r.among) {
		for _, ref := range group {
			if opt.Named == "" {
				opt.Named = ref.Name
			}
		}
	}
	return opt
}

// bounded returns a context that ends when the search is to.
func (r *test) bounded(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	limit := r.limit
	if testing.Short() && (limit == 0 || limit > short) {
		limit = short
	}
	if ends, ok := t.Deadline(); ok {
		if left := time.Until(ends) - margin; limit == 0 || left < limit { //nolint:forbidigo // the deadline of a test is of real time
			limit = left
		}
	}
	if limit == 0 {
		return context.WithCancel(t.Context())
	}
	return context.WithTimeout(t.Context(), limit)
}

// found tells of a schedule that breaks the lock, and writes it to a file whose name begins with name.
func (r *test) found(t *testing.T, f explore.Finding, opt explore.Options, name string, write func(name, text string) (string, error)) error {
	t.Helper()
	f, text, err := f.Told(t.Context(), r.spec, opt)
	if err != nil {
		return err
	}
	text.Name = explore.Slug(name) + "-" + string(f.Broken[0])
	file, err := write(text.Name, text.String())
	if err != nil {
		return err
	}
	s, err := scenarios.Parse(text.String())
	if err != nil {
		return err
	}
	cfg, err := s.Config(r.spec, s.Broken().Guard, r.backend, 0)
	if err != nil {
		return err
	}
	cfg.Want, cfg.Note, cfg.Why, cfg.CommandLog, cfg.Seed = nil, "", "", true, max(text.Seed, r.seed)
	res, err := harness.Run(t.Context(), cfg)
	if err != nil {
		return err
	}
	t.Error(r.failure(t, s, res, verdict{own: f.Broken, keptBy: f.KeptBy}) + "\nschedule: " + file + ", which locktest.Replay plays again")
	return nil
}

// overwrite writes a schedule to the file of that name: a fuzzer comes to ever shorter ones, and the last one counts.
func overwrite(name, text string) (string, error) {
	if err := os.MkdirAll(found, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(found, name+".schedule")
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// write writes a schedule to a file of that name, or of one with a number behind it if there is another schedule, and returns
// which.
func write(name, text string) (string, error) {
	if err := os.MkdirAll(found, 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		file := filepath.Join(found, name+".schedule")
		if n > 1 {
			file = filepath.Join(found, fmt.Sprintf("%s-%d.schedule", name, n))
		}
		before, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return file, os.WriteFile(file, []byte(text), 0o644)
		case err != nil:
			return "", err
		case string(before) == text:
			return file, nil
		}
	}
}
