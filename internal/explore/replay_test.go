package explore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/dockertest"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// unsteady are locks of which no schedule was found that comes out the same on real servers, and why.
func unsteady() map[string]string {
	return map[string]string{
		"redsync-fail-fast":     "which of five masters answers before the library gives up is up to its goroutines",
		"setnx-px-watch-shared": "two threads must send their commands on one connection in turns, and what a schedule holds there it holds of both",
	}
}

// foundOf is what the search has found of a lock.
func foundOf(t *testing.T, name string) scenarios.Scenario {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(foundDir, name+".schedule"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// brokenLocks are the names of those whose schedules come out the same on real servers.
func brokenLocks() (all []string) {
	for _, lock := range libraries.Catalogue() {
		if !lock.Sound && unsteady()[lock.Name] == "" {
			all = append(all, lock.Name)
		}
	}
	return all
}

// reproduced is how many of some runs, each with another seed, come out as a schedule expects of its lock.
func reproduced(t *testing.T, s scenarios.Scenario, backend harness.Backend, runs int) (n int) {
	t.Helper()
	return played(t, s, s.Broken(), backend, runs, func(res harness.Result) bool { return res.Outcome == checker.AsExpected })
}

// propertyOf is the property that a found schedule is about.
func propertyOf(t *testing.T, s scenarios.Scenario) checker.Property {
	t.Helper()
	property := checker.Property(strings.TrimPrefix(s.Name, s.Broken().Lock+"-"))
	if !slices.Contains(checker.Properties(), property) {
		t.Fatalf("%q names no property", s.Name)
	}
	return property
}

// played is how many of some runs of a lock, each with another seed, come out as is wanted. One on real servers during which the
// machine stood still, and that does not, is played again, with longer leases, of which a standstill is a smaller part.
func played(t *testing.T, s scenarios.Scenario, c scenarios.Case, backend harness.Backend, runs int, wanted func(harness.Result) bool) (n int) {
	t.Helper()
	cfg, err := s.Config(find(t, c.Lock), c.Guard, backend, 0)
	if err != nil {
		t.Fatal(err)
	}
	ttl := cfg.TTL
	for cfg.Seed = 1; cfg.Seed <= uint64(runs); cfg.Seed++ {
		cfg.TTL = ttl
		for again := 0; ; again++ {
			res, err := harness.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if wanted(res) {
				n++
				break
			}
			t.Logf("%s, seed %d: %v, %v", c.Lock, cfg.Seed, res.Outcome, res.Report.Results)
			if again == 5 || !res.Busy() {
				break
			}
			if again%2 == 1 && cfg.Lock.Masters <= 1 {
				cfg.TTL *= 2
			}
		}
	}
	return n
}

// TestFoundSchedulesOnRealServers plays what was found of broken locks on real servers, a few of them in a change, and all of them twenty
// times at night: of twenty runs of one, nineteen come out as the schedule expects, and its twins keep what it says that they keep.
func TestFoundSchedulesOnRealServers(t *testing.T) {
	locktest.NeedRedis(t)
	names, runs, most := []string{"client-token", "setnx-px-get-del", "fenced-early", "extend-later", "rw-two-key"}, 2, 1
	if effort.Nightly() {
		names, runs = brokenLocks(), 20
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := foundOf(t, name)
			for _, twin := range s.Cases[1:] {
				t.Run(twin.String(), func(t *testing.T) {
					t.Parallel() // each waits for leases to end
					keepsItsPart(t, s, twin)
				})
			}
			if n := reproduced(t, s, harness.Process(), runs); n < runs-most {
				t.Errorf("reproduced %d of %d, want %d at least", n, runs, runs-most)
			}
		})
	}
}

// keepsItsPart plays a twin of a found schedule on real servers: it keeps something that the broken lock breaks, each time.
func keepsItsPart(t *testing.T, s scenarios.Scenario, twin scenarios.Case) {
	t.Helper()
	// Whoever goes on after its deadline may be told as a breach, which is the holder's affair: the schedule says so then.
	spared := slices.DeleteFunc(failing(s.Broken().Want), func(p checker.Property) bool { return twin.Want[p] == checker.Fail })
	if len(spared) == 0 {
		t.Errorf("%s breaks all that %s breaks", twin, s.Broken())
	}
	keeps := func(res harness.Result) bool {
		return !slices.ContainsFunc(spared, func(p checker.Property) bool { return res.Report.Result(p).Verdict == checker.Fail })
	}
	if n := played(t, s, twin, harness.Process(), 2, keeps); n < 2 {
		t.Errorf("%s breaks what it is to keep in %d of two runs", twin, 2-n)
	}
}

// TestFoundSchedulesOnDocker plays three of them on servers in containers.
func TestFoundSchedulesOnDocker(t *testing.T) {
	dockertest.Turn(t)
	for _, name := range []string{"client-token", "setnx-px-get-del", "fenced-early"} {
		s := foundOf(t, name)
		if n := reproduced(t, s, docker.Backend(), 2); n == 0 {
			t.Errorf("%s was not reproduced in two runs", name)
		}
	}
}

// TestFoundSchedulesAreLeast: of what was found nothing can be left out, or the lock does not break what it breaks, or the locks do not keep
// it that do. There are three clients at most unless some are threads, six calls, and two things that happen.
func TestFoundSchedulesAreLeast(t *testing.T) {
	effort.Long(t)
	opt := explore.Options{Play: inProcess(), Among: libraries.Catalogue()}
	for _, name := range brokenLocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock, s := find(t, name), foundOf(t, name)
			p := explore.Program{Schedule: s.Script.Schedule}
			happens := func(p schedule.Step) bool {
				return p.Verb == schedule.At || p.Verb == schedule.Start
			}
			rules, faults := 0, 0
			for _, step := range p.Steps {
				if happens(step) && step.Verb == schedule.At {
					rules++
				} else if happens(step) {
					faults++
				}
			}
			if n := calls(p.Schedule); p.Clients > 3 || n > mostCalls || max(rules, faults) > 2 {
				t.Errorf("%d clients, %d calls, %d rules, %d faults; want 3, %d, 2 and 2 at most", p.Clients, n, rules, faults, mostCalls)
			}
			var keptBy []string
			for _, twin := range s.Cases[1:] {
				keptBy = append(keptBy, twin.Lock)
			}
			if len(keptBy) == 0 {
				for _, group := range lock.References(false, locks.Steps{}, opt.Among) {
					for _, ref := range group {
						keptBy = append(keptBy, ref.Name)
					}
				}
			}
			less, ok, err := explore.Less(t.Context(), p, lock, propertyOf(t, s), keptBy, opt)
			if err != nil || ok {
				t.Errorf("%v; less does as well:\n%s", err, less)
			}
		})
	}
}
