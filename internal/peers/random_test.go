package peers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/peers"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// Environment variables that play other seeds than the usual: from the first, so many.
const (
	firstEnv = "LOCKBENCH_RANDOM_FIRST"
	runsEnv  = "LOCKBENCH_RANDOM_RUNS"
)

// TestSoundLocks puts sound locks under random load and random faults: none may have a fault of
// its own, that is break what others of its class keep under the same.
func TestSoundLocks(t *testing.T) {
	accuseNone(t, harness.Embedded(), effort.Count(30, 10_000), runtime.GOMAXPROCS(0))
}

// TestSoundLocksOnRealServers is TestSoundLocks on real servers. What a machine that stood still
// may have brought about is unknown there.
func TestSoundLocksOnRealServers(t *testing.T) {
	if !effort.Nightly() && os.Getenv(runsEnv) == "" {
		t.Skip("optional: random faults on real servers are for make nightly")
	}
	locktest.NeedRedis(t)
	accuseNone(t, harness.Process(), 200, 8)
}

// accuseNone plays so many runs of sound locks, some at a time.
func accuseNone(t *testing.T, backend harness.Backend, runs, jobs int) {
	t.Helper()
	first, runs := number(t, firstEnv, 1), number(t, runsEnv, runs)
	all := sound()
	var next, undecided, unavoidable atomic.Int64
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for n := int(next.Add(1)) - 1; n < runs && t.Context().Err() == nil; n = int(next.Add(1)) - 1 {
				d := draw(t, all, uint64(first+n), backend)
				res, err := d.run(t.Context())
				switch {
				case err != nil:
					t.Errorf("%s: %v", d, err)
				case res.Outcome == checker.Unexpected:
					t.Errorf("%s\n%s", d, accused(res))
				case res.Outcome == checker.Undecided:
					undecided.Add(1)
				case res.Peers != nil:
					unavoidable.Add(1)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d runs: %d broke what no lock of the class keeps, of %d something is unknown", runs, unavoidable.Load(), undecided.Load())
}

// sound are the locks of the catalogue that keep what they promise.
func sound() []locks.Spec {
	return slices.DeleteFunc(libraries.Catalogue(), func(s locks.Spec) bool { return !s.Sound })
}

// drawn is random load as a seed draws it.
type drawn struct {
	cfg  harness.Config
	load harness.Load
}

// draw draws a lock, a load that it can be put under, and some faults.
func draw(t *testing.T, all []locks.Spec, seed uint64, backend harness.Backend) drawn {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 'p'))
	lock := all[seed%uint64(len(all))]
	load := harness.Load{Clients: 2 + r.IntN(3), Keys: 1 + r.IntN(5)/4}
	for _, k := range choose(r, nemeses(backend), r.IntN(4)) {
		if _, err := harness.ForWorkload(harness.Load{Clients: 2, Nemesis: append(load.Nemesis, k)}, lock, resource.None, backend, 0); err == nil {
			load.Nemesis = append(load.Nemesis, k)
		}
	}
	if len(load.Nemesis) > 0 {
		load.Limit = time.Duration(9+r.IntN(12)) * time.Second
		if !backend.Virtual() {
			load.Limit /= 3
		}
	}
	guards := slices.DeleteFunc(resource.Guards(), func(g resource.Guard) bool { return g.Supports(lock) != nil })
	guard := guards[r.IntN(len(guards))*r.IntN(2)]
	for _, name := range choose(r, harness.Workloads(), len(harness.Workloads())) {
		load.Workload = name
		if cfg, err := harness.ForWorkload(load, lock, guard, backend, 0); err == nil {
			cfg.Seed = seed
			return drawn{cfg, load}
		}
	}
	t.Fatalf("seed %d: no workload for %s", seed, lock.Name)
	return drawn{}
}

// choose draws some of all.
func choose(r *rand.Rand, all []string, some int) []string {
	var chosen []string
	for _, i := range r.Perm(len(all))[:some] {
		chosen = append(chosen, all[i])
	}
	return chosen
}

// nemeses are the faults that a backend can have.
func nemeses(backend harness.Backend) []string {
	var all []string
	for _, row := range harness.NemesisTable(backend) {
		if row.Gaps[backend.Name] == "" {
			all = append(all, row.Name)
		}
	}
	return all
}

func (d drawn) run(ctx context.Context) (harness.Result, error) {
	load := &peers.Load{Load: d.load, Guard: d.cfg.Guard, TTL: d.cfg.TTL, Locks: libraries.Catalogue()}
	d.cfg.Peers = load.Measure
	return harness.Run(ctx, d.cfg)
}

// String is the command that plays it again.
func (d drawn) String() string {
	s := fmt.Sprintf("lockbench run --workload %s --lock %s --clients %d --keys %d", d.load.Workload, d.cfg.Lock.Name, d.load.Clients, d.load.Keys)
	if !d.cfg.Backend.Virtual() {
		s += " --backend " + d.cfg.Backend.Name
	}
	if d.cfg.Guard != resource.None {
		s += " --guard " + d.cfg.Guard.String()
	}
	if len(d.load.Nemesis) > 0 {
		s += " --nemesis " + strings.Join(d.load.Nemesis, ",")
	}
	if d.load.Limit > 0 {
		s += fmt.Sprintf(" --time-limit %v", d.load.Limit)
	}
	return fmt.Sprintf("%s --seed %d", s, d.cfg.Seed)
}

// accused tells what is held against a lock.
func accused(res harness.Result) string {
	var b strings.Builder
	for _, own := range res.Peers.Own {
		fmt.Fprintf(&b, "\t%s: %s\n\t\tkept by %v with %d seeds\n", own.Property, res.Report.Result(own.Property).Story, own.KeptBy, res.Peers.Seeds)
	}
	for _, c := range res.Causes {
		fmt.Fprintf(&b, "\tcause %s of %v: %s\n", c.Kind, c.Properties, c.Sentence)
	}
	return b.String()
}

func number(t *testing.T, env string, usual int) int {
	t.Helper()
	s := os.Getenv(env)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a number above 0", env, s)
	}
	return n
}
