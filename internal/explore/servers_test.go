package explore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// servers plays a stranger in the place of real servers, in virtual time, and notes which programs were played with it.
type servers struct {
	own    locks.Spec
	before func(p explore.Program, out explore.Outcome) (explore.Outcome, error) // what is told of a run of the stranger; nil: what it came to

	mu     sync.Mutex
	played []string
}

// stranger is a lock of the catalogue under a name that nobody knows.
func (s *servers) stranger() locks.Spec {
	lock := s.own
	lock.Name = "mine"
	return lock
}

func (s *servers) play(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
	own := lock.Name == "mine"
	if own {
		lock = s.own
		s.mu.Lock()
		s.played = append(s.played, p.Name)
		s.mu.Unlock()
	}
	out, err := explore.Run(ctx, p, lock, harness.Embedded())
	if own && err == nil && s.before != nil {
		return s.before(p, out)
	}
	return out, err
}

func (s *servers) options(programs ...string) explore.Options {
	return explore.Options{
		Play: explore.InProcess(), Servers: s.play, Depth: 1, Programs: programs, Among: libraries.Catalogue(), Stranger: true, Named: "setnx-px-lua", Jobs: 2,
	}
}

// TestProvenFirst: on real servers a lock is played in the programs first that broke others, and breaks in one of them. Those are neither
// programs that were meant nor explored whole.
func TestProvenFirst(t *testing.T) {
	s := &servers{own: find(t, "setnx-px-get-del")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opt := s.options()
	opt.Found = func(f explore.Finding) {
		if slices.Contains(f.Broken, checker.Ownership) {
			cancel()
		}
	}
	found, err := explore.Explore(ctx, s.stranger(), opt)
	if err != nil || len(found.Findings) == 0 {
		t.Fatalf("%d findings, %v", len(found.Findings), err)
	}
	if i := slices.IndexFunc(s.played, func(name string) bool { return !strings.HasPrefix(name, "found/") }); i >= 0 {
		t.Errorf("played %s before what broke other locks was over", s.played[i])
	}
	if len(found.Done) > 0 || found.Proven.Meant < 20 || found.Proven.Played >= found.Proven.Meant {
		t.Errorf("done %v, proven %+v; want none done, and not all that broke other locks", found.Done, found.Proven)
	}
	f := found.Findings[len(found.Findings)-1]
	small, _, err := explore.Shrink(t.Context(), f, s.stranger(), opt)
	if err != nil {
		t.Fatal(err)
	}
	text, err := small.Text(t.Context(), s.stranger(), opt)
	if err != nil || text.RealTTL != explore.Lease || text.Lock != "setnx-px-lua" || len(text.Expect) == 0 {
		t.Errorf("%v\n%s", err, text)
	}
	for _, e := range text.Expect {
		if e.Lock == "mine" {
			t.Errorf("the schedule names a lock that nobody knows:\n%s", text)
		}
	}
}

// TestOnServers explores one program whole: the broken lock is found and the sound one is not accused. What is broken once and not again,
// and what other locks break as well, is no finding, and what cannot be played does not end the search.
func TestOnServers(t *testing.T) {
	hung := errors.New("it hung")
	var mu sync.Mutex
	once := map[string]int{}
	for _, c := range []struct {
		name, lock, program string
		before              func(p explore.Program, out explore.Outcome) (explore.Outcome, error)
		broken              bool
		differing, givenUp  bool
	}{
		{name: "broken", lock: "setnx-px-del", program: "threads-long", broken: true},
		{name: "sound", lock: "setnx-px-lua", program: "once"},
		{name: "once", lock: "setnx-px-lua", program: "once", differing: true, before: func(p explore.Program, out explore.Outcome) (explore.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			if once[p.String()]++; once[p.String()] == 1 { // of the runs of each schedule
				out.Fails = append(out.Fails, checker.Ownership)
			}
			return out, nil
		}},
		{name: "hangs", lock: "setnx-px-lua", program: "once", givenUp: true, before: func(p explore.Program, out explore.Outcome) (explore.Outcome, error) {
			if strings.Contains(p.String(), "start pause") {
				return explore.Outcome{}, hung
			}
			return out, nil
		}},
		{name: "lacks", lock: "setnx-px-lua", program: "once", givenUp: true, before: func(p explore.Program, out explore.Outcome) (explore.Outcome, error) {
			if strings.Contains(p.String(), "start pause") {
				return explore.Outcome{}, &harness.NeedsError{Why: hung}
			}
			return out, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &servers{own: find(t, c.lock), before: c.before}
			opt := s.options(c.program)
			if c.broken || c.differing { // in fair weather
				opt.Depth = 0
			}
			found, err := explore.Explore(t.Context(), s.stranger(), opt)
			if err != nil || !slices.Equal(found.Done, []string{c.program}) || found.Proven.Meant > 0 {
				t.Errorf("%v: explored %v, proven %+v", err, found.Done, found.Proven)
			}
			if got := broken(found); len(got) > 0 != c.broken {
				t.Errorf("broken: %v", got)
			}
			if len(found.Differing) > 0 != c.differing || len(found.GivenUp) > 0 != c.givenUp {
				t.Errorf("differing: %v, given up: %v", found.Differing, found.GivenUp)
			}
			if c.name == "lacks" && len(found.GivenUp) != 1 {
				t.Errorf("what cannot be had is told %d times: %v", len(found.GivenUp), found.GivenUp)
			}
			if found.Runs < 1 || found.Schedules < 2 && opt.Depth > 0 {
				t.Errorf("%d runs of %d schedules", found.Runs, found.Schedules)
			}
		})
	}
}

// TestBrokenThereToo: what a lock breaks on real servers, and another one breaks there too, is a weakness of the class, even though
// that keeps it in virtual time.
func TestBrokenThereToo(t *testing.T) {
	s := &servers{own: find(t, "setnx-px-lua")}
	opt := s.options("once")
	opt.Depth = 0
	opt.Servers = func(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
		out, err := s.play(ctx, p, lock)
		out.Fails = append(out.Fails, checker.Load)
		return out, err
	}
	found, err := explore.Explore(t.Context(), s.stranger(), opt)
	if err != nil || len(found.Findings) > 0 || len(found.Weaknesses) != 1 || found.Weaknesses[0].Property != checker.Load {
		t.Errorf("%v: findings %v, weaknesses %v", err, broken(found), found.Weaknesses)
	}
}
