package harness_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/testkit/dockertest"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/scenarios"
)

// aChoice are scenarios for where a change does not play all: a race, a pause, a failover, a
// split brain, a lost reply, a clock and a partition.
func aChoice() []string { return []string{"P08", "P11", "P14", "P18", "P26", "P52", "P54"} }

// forWorkers are scenarios that ask something of clients in processes of their own: each
// capability of the protocol, threads among them, loss that is told, and every fault that hits such a client.
func forWorkers() []string {
	return []string{"P08", "P11", "P14", "P22", "P26", "P31", "P37", "P40", "P51", "P54", "P59", "P81"}
}

// play is one case of a scenario.
type play struct {
	scenarios.Scenario
	scenarios.Case
	at int // among the scenario's cases
}

func (p play) String() string { return fmt.Sprintf("%s/%v", p.Name, p.Case) }

// plays are the cases of the catalogue that a backend can play; what it cannot is in TestGaps,
// TestExternalRefuses and TestWorkersGaps.
func plays(backend harness.Backend) (all []play) {
	for _, s := range scenarios.All() {
		for i, c := range s.Cases {
			if remedied, err := s.With(c.Remedy); err == nil && remedied.Gaps[backend.Name] == "" {
				all = append(all, play{s, c, i})
			}
		}
	}
	return all
}

// someOf are the first two cases of each of the chosen scenarios, or at night all plays.
func someOf(backend harness.Backend, chosen []string) []play {
	return slices.DeleteFunc(plays(backend), func(p play) bool {
		return !effort.Nightly() && (p.at > 1 || !slices.Contains(chosen, p.ID))
	})
}

// sideBySide plays all at once, as far as -parallel lets them: on real servers most of the
// time is spent waiting for leases to end. It returns when the last of them has.
func sideBySide(t *testing.T, name string, all []play, one func(t *testing.T, p play)) {
	t.Helper()
	if len(all) == 0 {
		t.Fatalf("nothing to play: %s", name)
	}
	t.Run(name, func(t *testing.T) {
		for _, p := range all {
			t.Run(p.String(), func(t *testing.T) {
				t.Parallel()
				one(t, p)
			})
		}
	})
}

// asExpected plays a configuration and checks that every judge says what the catalogue expects.
// A run on real servers that came too late for its script is played again.
func asExpected(t *testing.T, cfg harness.Config) harness.Result {
	t.Helper()
	enough := func(res harness.Result) bool { return res.Outcome == checker.AsExpected || judged(res) }
	res := until(t, cfg, enough)
	for n := 1; n <= 10 && tooLate(cfg, res); n++ {
		t.Logf("seed %d is %v, and came too late for its script; again", cfg.Seed, res.Outcome)
		res = until(t, cfg.Again(n), enough)
	}
	if res.Outcome != checker.AsExpected {
		t.Fatalf("seed %d is %v:\n%s", cfg.Seed, res.Outcome, explain(res))
	}
	return res
}

// tooLate reports whether a run on real servers did not show what its script is for: it is unknown; or
// it shows less of a lock whose renewals run by the machine's own clock, so that on a slow machine they hear of a loss before the step that
// they are to be late for; or a server was slow. Else a property that is broken and was not to be is no matter of time. In virtual time nothing is slow.
func tooLate(cfg harness.Config, res harness.Result) bool {
	if histories.VirtualTime(res.Meta.Backend) {
		return false
	}
	if res.Outcome != checker.AsExpected && res.Slow() {
		return true
	}
	if cfg.Lock.Unseeded != "" && res.Outcome != checker.AsExpected {
		return !slices.ContainsFunc(res.Expected, func(j checker.Judged) bool { return !j.Met && j.Got == checker.Fail })
	}
	return res.Outcome == checker.Undecided
}

// TestCatalogue plays every scenario, the broken lock and its twins, in virtual time: each
// can be played again, and no run leaves a goroutine behind.
func TestCatalogue(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	sideBySide(t, histories.BackendEmbedded, plays(harness.Embedded()), func(t *testing.T, p play) {
		if p.Keys > 100 {
			effort.Long(t)
		}
		cfg := scenario(t, p.Scenario, p.Case, harness.Embedded())
		for cfg.Seed = 1; cfg.Seed <= uint64(effort.Count(1, 5)); cfg.Seed++ { // the gate plays more
			if res := asExpected(t, cfg); !res.Meta.Replayable && cfg.Lock.Unseeded == "" {
				t.Errorf("seed %d cannot be replayed: %v", cfg.Seed, res.Meta.Notes)
			}
		}
	})
}

// TestCatalogueInPart plays a choice of it where the race detector looks, which does not see all of it.
func TestCatalogueInPart(t *testing.T) {
	sideBySide(t, histories.BackendEmbedded, someOf(harness.Embedded(), aChoice()), func(t *testing.T, p play) {
		asExpected(t, scenario(t, p.Scenario, p.Case, harness.Embedded()))
	})
	locktest.NeedRedis(t)
	sideBySide(t, histories.BackendProcess, someOf(harness.Process(), aChoice()), func(t *testing.T, p play) {
		asExpected(t, scenario(t, p.Scenario, p.Case, harness.Process()))
	})
}

// eachOnce leaves out a case when others before it have played its scenario and its lock. At night it leaves out none.
func eachOnce(all []play) []play {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(p play) bool {
		known := seen[p.Name] && seen["lock "+p.Lock]
		seen[p.Name], seen["lock "+p.Lock] = true, true
		return known && !effort.Nightly()
	})
}

// TestCatalogueOnProcesses plays every scenario and every lock on real servers, and at night every case.
func TestCatalogueOnProcesses(t *testing.T) {
	locktest.NeedRedis(t)
	sideBySide(t, histories.BackendProcess, eachOnce(plays(harness.Process())), func(t *testing.T, p play) {
		asExpected(t, scenario(t, p.Scenario, p.Case, harness.Process()))
	})
}

// TestCatalogueOnDocker plays a choice on the same servers in containers. An engine that is
// asked to start and kill many of them at once takes longer for it than a lease lasts.
func TestCatalogueOnDocker(t *testing.T) {
	dockertest.Turn(t)
	turn := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	sideBySide(t, histories.BackendDocker, someOf(docker.Backend(), aChoice()), func(t *testing.T, p play) {
		turn <- struct{}{}
		defer func() { <-turn }()
		asExpected(t, scenario(t, p.Scenario, p.Case, docker.Backend()))
	})
}

// TestCatalogueOnExternal plays a choice on servers of the user's own.
func TestCatalogueOnExternal(t *testing.T) {
	locktest.NeedRedis(t)
	alone := slices.DeleteFunc(someOf(harness.External(harness.Servers{}), aChoice()), func(p play) bool {
		return p.Replicas > 0 // see TestExternalRefuses
	})
	sideBySide(t, histories.BackendExternal, alone, func(t *testing.T, p play) {
		cfg, _ := onOwnServers(t, scenario(t, p.Scenario, p.Case, harness.External(harness.Servers{})))
		asExpected(t, cfg)
	})
}

// TestCatalogueWithWorkers plays a choice with clients in processes of their own: each comes
// out as it does without.
func TestCatalogueWithWorkers(t *testing.T) {
	locktest.NeedRedis(t)
	apart := slices.DeleteFunc(someOf(harness.Process(), forWorkers()), func(p play) bool {
		return p.InProcess != "" // see TestWorkersGaps
	})
	sideBySide(t, "worker", apart, func(t *testing.T, p play) {
		asExpected(t, employ(t, scenario(t, p.Scenario, p.Case, harness.Process()), self(t)))
	})
}
