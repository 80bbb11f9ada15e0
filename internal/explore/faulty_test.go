package explore_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// The tests of this file make the explorer faulty in one way each, by who plays for it, and look whether that is noticed.

// faulty explores one program of a lock with somebody else playing.
func faulty(t *testing.T, lock, program string, play explore.Player) (explore.Found, explore.Options) {
	t.Helper()
	opt := explore.Options{Play: play, Depth: 1, Programs: []string{program}, Among: libraries.Catalogue(), Jobs: 2}
	found, err := explore.Explore(t.Context(), find(t, lock), opt)
	if err != nil {
		t.Fatal(err)
	}
	return found, opt
}

// TestDeviationsThatDoNothing: somebody plays the program without what was to happen. Each such schedule is told, and that none breaks the lock
// is then no pass.
func TestDeviationsThatDoNothing(t *testing.T) {
	play, fair := explore.InProcess(), programOf(t, find(t, "setnx-px-lua"), "once")
	nothing := func(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
		if p.Name == fair.Name {
			p = fair
		}
		return play(ctx, p, lock)
	}
	found, _ := faulty(t, "setnx-px-lua", "once", nothing)
	if found.Runs < 20 || len(found.GivenUp) != found.Runs-1 { // all but the one in fair weather
		t.Errorf("%d runs, of which %d are said to have done nothing", found.Runs, len(found.GivenUp))
	}
	if honest, _ := faulty(t, "setnx-px-lua", "once", play); len(honest.GivenUp) > 0 {
		t.Errorf("honest deviations are said to have done nothing: %v", honest.GivenUp)
	}
}

// TestRulesThatNeverMeet: somebody lets rules wait for commands that do not come. That every deviation missed is counted.
func TestRulesThatNeverMeet(t *testing.T) {
	play := explore.InProcess()
	found, _ := faulty(t, "setnx-px-lua", "once", func(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
		p.Steps = slices.Clone(p.Steps)
		for i := range p.Steps {
			if p.Steps[i].Verb == schedule.At {
				p.Steps[i].Nth = 99
			}
		}
		return play(ctx, p, lock)
	})
	if found.Runs < 20 || found.Missed+len(found.GivenUp) != found.Runs-1 {
		t.Errorf("%d runs, of which %d missed, and %d were given up: want all but the one in fair weather", found.Runs, found.Missed, len(found.GivenUp))
	}
}

// swapped plays what was to happen at a request at the reply, and the other way round.
func swapped(play explore.Player) explore.Player {
	return func(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
		p.Steps = slices.Clone(p.Steps)
		for i := range p.Steps {
			if p.Steps[i].Verb == schedule.At && p.Steps[i].Action == schedule.Hold {
				p.Steps[i].Reply = !p.Steps[i].Reply
			}
		}
		return play(ctx, p, lock)
	}
}

// unlike counts findings whose schedules, played as lockbench run plays them, do not do what they say.
func unlike(t *testing.T, lock string, found explore.Found, opt explore.Options) (n int) {
	t.Helper()
	for _, f := range explore.Places(found.Findings) {
		text, err := f.Text(t.Context(), find(t, lock), opt)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenarios.Parse(text.String())
		if err != nil {
			n++
			continue
		}
		cfg, err := s.Config(find(t, lock), s.Broken().Guard, harness.Embedded(), 0)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Seed = 1
		if res, err := harness.Run(t.Context(), cfg); err != nil || res.Outcome != checker.AsExpected {
			n++
		}
	}
	return n
}

// TestSwappedEdges: somebody takes requests for replies. What is found then does not break the lock when its schedule is played.
func TestSwappedEdges(t *testing.T) {
	effort.Long(t)
	const lock, program = "setnx-px-get-del", "relay"
	for _, c := range []struct {
		name  string
		play  explore.Player
		wrong bool
	}{{"honest", explore.InProcess(), false}, {"swapped", swapped(explore.InProcess()), true}} {
		found, opt := faulty(t, lock, program, c.play)
		if n := unlike(t, lock, found, opt); len(found.Findings) == 0 || n > 0 != c.wrong {
			t.Errorf("%s: of %d findings %d do something else when they are played, want some: %v", c.name, len(found.Findings), n, c.wrong)
		}
	}
}

// TestOutcomeOfAnotherRun: somebody returns what the run before came to. Two runs of one schedule then differ, which is told.
func TestOutcomeOfAnotherRun(t *testing.T) {
	play := explore.InProcess()
	var mu sync.Mutex
	var before explore.Outcome
	found, _ := faulty(t, "setnx-px-lua", "once", func(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
		out, err := play(ctx, p, lock)
		mu.Lock()
		defer mu.Unlock()
		out, before = before, out
		if len(out.Points) == 0 {
			out = before // of the first run
		}
		return out, err
	})
	if found.Twice == 0 || len(found.Differing) == 0 {
		t.Errorf("%d of %d schedules that were played twice are said to differ", len(found.Differing), found.Twice)
	}
}

// TestShrinkHeedsTheReference: a lock of the class breaks what is found, too, once a call is left out. So none is left out; by a
// shrinker that does not ask that lock some are.
func TestShrinkHeedsTheReference(t *testing.T) {
	effort.Long(t)
	lock := find(t, "setnx-px-get-del")
	found, opt := faulty(t, lock.Name, "relay", explore.InProcess())
	i := slices.IndexFunc(found.Findings, func(f explore.Finding) bool { return len(f.KeptBy) > 0 && len(f.Deviations) > 0 })
	if i < 0 {
		t.Fatal("nothing was found that a lock of the class keeps")
	}
	f, honest := found.Findings[i], explore.InProcess()
	whole := calls(f.Schedule().Schedule)
	opt.Play = func(ctx context.Context, p explore.Program, l locks.Spec) (explore.Outcome, error) {
		out, err := honest(ctx, p, l)
		if l.Name != lock.Name && calls(p.Schedule) < whole {
			out.Fails = append(out.Fails, f.Broken[0])
		}
		return out, err
	}
	small, _, err := explore.Shrink(t.Context(), f, lock, opt)
	if err != nil || calls(small.Schedule().Schedule) != whole {
		t.Errorf("%d of %d calls are left, which the lock that is asked does not keep: %v", calls(small.Schedule().Schedule), whole, err)
	}
	f.KeptBy = nil // nobody is asked
	if small, _, err = explore.Shrink(t.Context(), f, lock, opt); err != nil || calls(small.Schedule().Schedule) >= whole {
		t.Errorf("%d of %d calls are left, so that nothing would be noticed: %v", calls(small.Schedule().Schedule), whole, err)
	}
}
