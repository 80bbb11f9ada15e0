package peers_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

var update = flag.Bool("update", false, "look for what random load finds of the catalogue's broken locks, and write it (make discover)")

const (
	// discoveredFile is the table of what random load finds.
	discoveredFile = "../../docs/discovered.md"
	// discoverRuns is how many runs of random load a lock is put under at most. It is no time, so that every machine finds the same.
	discoverRuns = 600
	// locksEnv names the locks that are looked at, if not all.
	locksEnv = "LOCKBENCH_LOCKS"
)

// frequent are faults that clients meet every day. Half of the runs draw from them alone.
func frequent() []string {
	return []string{
		"lost-reply", "hung-reply", "duplicate", "late", "latency", "partition", "one-way", "pause", "crash", "stall", "failover",
	}
}

// swarmed is a run of the load swarm as a seed draws it: how many clients and keys there are, and in two of three runs a kind of faults.
func swarmed(t *testing.T, lock locks.Spec, seed uint64) drawn {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 'd'))
	load := harness.Load{Workload: "swarm", Clients: 2 + r.IntN(3), Keys: 1 + r.IntN(2)}
	faults := nemeses(harness.Embedded())
	if r.IntN(2) == 0 {
		faults = frequent()
	}
	for _, k := range choose(r, faults, (1+r.IntN(3))/2) {
		if _, err := harness.ForWorkload(harness.Load{Clients: 2, Nemesis: append(load.Nemesis, k)}, lock, resource.None, harness.Embedded(), 0); err == nil {
			load.Nemesis = append(load.Nemesis, k)
		}
	}
	cfg, err := harness.ForWorkload(load, lock, resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed = seed
	return drawn{cfg, load}
}

// unfound are the broken locks of which that many runs of random load find nothing, each with the reason.
func unfound() map[string]string {
	return map[string]string{
		"extend-adds":          "the very command that extends must be sent twice, and its holder walk away after it",
		"verify-exists":        "no client of random load asks whether it still holds the lock",
		"set-keepttl":          "no client of random load acquires the lock without saying for how long",
		"redlock-answers-only": "most of five masters must be away in one acquire, and each run of five masters takes long",
	}
}

// discovery is what random load finds first of a lock.
type discovery struct {
	run      drawn
	property checker.Property
	cause    checker.CauseKind // empty: it is not known
	pitfall  string            // a scenario in which the lock breaks the property; empty: there is none
	took     time.Duration     // of processors, until it was found
}

// told is what is told of the faults of a lock's own that a run shows: one that is a pitfall of the catalogue, for the same cause if there
// is one, or else the first.
func told(t *testing.T, d drawn, res harness.Result, took time.Duration) (best discovery) {
	t.Helper()
	for _, own := range res.Peers.Own {
		next := discovery{run: d, property: own.Property, cause: causeOf(own.Property, res.Causes), took: took}
		same := false
		next.pitfall, same = next.known(t)
		if same {
			return next
		}
		if best.property == "" || best.pitfall == "" && next.pitfall != "" {
			best = next
		}
	}
	return best
}

// discover puts a lock under random load, from seed 1 on, until something is its own fault.
func discover(t *testing.T, lock locks.Spec) (discovery, bool) {
	t.Helper()
	began := processorTime(t)
	for seed := uint64(1); seed <= discoverRuns && t.Context().Err() == nil; seed++ {
		d := swarmed(t, lock, seed)
		res, err := d.run(t.Context())
		switch {
		case err != nil:
			t.Errorf("%s: %v", d, err)
		case res.Peers != nil && len(res.Peers.Own) > 0:
			return told(t, d, res, processorTime(t)-began), true
		}
	}
	t.Logf("nothing in %d runs, %v", discoverRuns, processorTime(t)-began)
	return discovery{}, false
}

// causeOf is why a property is broken; empty: that is not known.
func causeOf(property checker.Property, causes []checker.Cause) checker.CauseKind {
	for _, c := range causes {
		if c.Derived() && slices.Contains(c.Properties, property) {
			return c.Kind
		}
	}
	return ""
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	usage, err := osproc.Measure(t.Context(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return usage.CPU
}

// known is the number of a scenario in which the lock breaks the property, for the same cause if there is one; empty: there is none.
func (d discovery) known(t *testing.T) (like string, same bool) {
	t.Helper()
	lock := d.run.cfg.Lock
	for _, s := range scenarios.All() {
		for _, c := range s.Cases {
			if c.Lock != lock.Name || c.Remedy != "" || c.Want[d.property] != checker.Fail {
				continue
			}
			cfg, err := s.Config(lock, c.Guard, harness.Embedded(), 0)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Seed = 1
			res, err := harness.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if d.cause != "" && causeOf(d.property, res.Causes) == d.cause {
				return cmp.Or(s.ID, s.Name), true
			}
			like = cmp.Or(like, s.ID, s.Name)
		}
	}
	return like, false
}

// row is the row of the table.
func (d discovery) row() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %d | %.1f | `%s` |\n", d.run.cfg.Lock.Name, cmp.Or(d.pitfall, "-"),
		d.property, cmp.Or(d.cause, "-"), d.run.cfg.Seed, d.took.Seconds(), d.run)
}

const discoveredHead = `# What random load finds of the catalogue's broken locks

Written by ` + "`make discover`" + `: each lock is put under the load ` + "`swarm`" + `, from seed 1 on, which draws clients, keys and at times a kind of faults,
until it breaks something that other locks of its class keep under the same (docs/adr/0015, 0033), in %d runs at
most. The seconds are those until then, on one processor of the machine that wrote this, with all that was measured. The pitfall is a
scenario of the catalogue in which the lock breaks that property, for the same cause if there is one; the cause is what the record of
the run shows (-: none can be derived). Tests play every row again.

| lock | pitfall | property | cause | seed | CPU s | run |
|---|---|---|---|---|---|---|
`

// TestDiscover looks for what random load finds of each broken lock, and with -update writes it down, row by row: who is interrupted has
// what was found until then, and names in LOCKBENCH_LOCKS the locks that are left.
func TestDiscover(t *testing.T) {
	if !*update && !effort.Nightly() {
		t.Skip("optional: the whole search takes half an hour: it runs nightly, and TestDiscovered plays what it found")
	}
	only := strings.Fields(os.Getenv(locksEnv))
	for _, lock := range libraries.Catalogue() {
		if lock.Sound || len(only) > 0 && !slices.Contains(only, lock.Name) {
			continue
		}
		t.Run(lock.Name, func(t *testing.T) {
			found, ok := discover(t, lock)
			if !ok {
				if *update {
					enter(t, lock.Name, "")
				}
				if unfound()[lock.Name] == "" {
					t.Error("random load finds nothing")
				}
				return
			}
			t.Logf("%s, %s, %v", found.run, found.property, found.took)
			if *update {
				enter(t, lock.Name, found.row())
			}
		})
	}
}

// enter writes the row of a lock into the table, which has the order of the catalogue.
func enter(t *testing.T, lock, row string) {
	t.Helper()
	rows := map[string]string{lock: row}
	for _, r := range discovered(t) {
		if r.lock != lock {
			rows[r.lock] = r.line
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, discoveredHead, discoverRuns)
	for _, s := range libraries.Catalogue() {
		if !s.Sound {
			b.WriteString(rows[s.Name])
		}
	}
	b.WriteString("\nNothing is found in so many runs:\n\n")
	for _, s := range libraries.Catalogue() {
		if !s.Sound && rows[s.Name] == "" {
			fmt.Fprintf(&b, "- %s: %s\n", s.Name, cmp.Or(unfound()[s.Name], "nobody knows why"))
		}
	}
	if err := os.WriteFile(discoveredFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// listed is a row of the table.
type listed struct {
	line, lock, run string
	property        checker.Property
	seed            uint64
}

// discovered are the rows of the table.
func discovered(t *testing.T) (all []listed) {
	t.Helper()
	text, err := os.ReadFile(discoveredFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(text), "|---|---|---|---|---|---|---|\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	for line := range strings.Lines(rows) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 7 {
			t.Fatalf("%q: %d cells, want 7", line, len(cells))
		}
		seed, err := strconv.ParseUint(cells[4], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, listed{line: strings.TrimSpace(line) + "\n", lock: cells[0], run: strings.Trim(cells[6], "`"), property: checker.Property(cells[2]), seed: seed})
	}
	return all
}

// TestDiscovered plays the runs that the table lists: each breaks what the table says. Nearly all of the broken locks are there.
func TestDiscovered(t *testing.T) {
	broken, rows := 0, discovered(t)
	for _, lock := range libraries.Catalogue() {
		if lock.Sound {
			continue
		}
		broken++
		found := slices.ContainsFunc(rows, func(r listed) bool { return r.lock == lock.Name })
		if found == (unfound()[lock.Name] != "") {
			t.Errorf("%s: found is %v; want it in %s, or a reason why it is not there, and not both", lock.Name, found, discoveredFile)
		}
	}
	if len(rows)*37 < broken*34 {
		t.Errorf("%s lists %d of %d broken locks, want 34 of 37 at least; make discover writes it", discoveredFile, len(rows), broken)
	}
	var wg sync.WaitGroup
	for _, row := range effort.Part(rows, 4) {
		wg.Go(func() {
			lock, err := libraries.Catalogue().Find(row.lock)
			if err != nil || lock.Sound {
				t.Errorf("%s: %v; want a broken lock of the catalogue", row.lock, err)
				return
			}
			d := swarmed(t, lock, row.seed)
			if d.String() != row.run {
				t.Errorf("%s: seed %d draws %s, and the table says %s; make discover writes it", row.lock, row.seed, d, row.run)
				return
			}
			d.cfg.NoCauses = true
			plays := 1
			if lock.Unseeded != "" { // the seed does not decide all
				plays = 10
			}
			got := checker.Unknown
			for ; plays > 0 && got != checker.Fail; plays-- {
				res, err := harness.Run(t.Context(), d.cfg)
				if err != nil {
					t.Errorf("%s: %v", d, err)
				}
				got = res.Report.Result(row.property).Verdict
			}
			if got != checker.Fail {
				t.Errorf("%s: %s is %v, want fail; make discover writes the table", d, row.property, got)
			}
		})
	}
	wg.Wait()
}

// TestSwarmAccusesNone puts sound locks under what the broken ones are found by: none is accused.
func TestSwarmAccusesNone(t *testing.T) {
	first, runs := number(t, firstEnv, 1), number(t, runsEnv, effort.Count(22, 100_000))
	all, unavoidable := sound(), 0
	for n := range runs {
		d := swarmed(t, all[n%len(all)], uint64(first+n))
		res, err := d.run(t.Context())
		switch {
		case err != nil:
			t.Errorf("%s: %v", d, err)
		case res.Peers != nil && len(res.Peers.Own) > 0:
			t.Errorf("%s\n%s", d, accused(res))
		case res.Peers != nil:
			unavoidable++
		}
	}
	t.Logf("%d runs: %d broke what no lock of the class keeps", runs, unavoidable)
}

// TestAccusedOnce plays runs in which random load accused sound locks once. A master that followed its successor at the end, and was
// behind it, was audited: the key that it still had was released. And a clock that was set back put off a renewal until the lease was over.
func TestAccusedOnce(t *testing.T) {
	for _, was := range []struct {
		lock     string
		property checker.Property
		seeds    []uint64
	}{
		{"redlock-in-turns", checker.TruthfulReplies, []uint64{347219, 372294}},
		{"watchdog", checker.StrictExclusion, []uint64{331757, 340607, 352432, 352532}},
		{"redisson-style", checker.StrictExclusion, []uint64{348538}},
	} {
		lock, err := libraries.Catalogue().Find(was.lock)
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range was.seeds {
			d := swarmed(t, lock, seed)
			d.cfg.NoCauses = true
			res, err := harness.Run(t.Context(), d.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Report.Result(was.property); got.Verdict != checker.Pass {
				t.Errorf("%s: %s %v, want pass", d, was.property, got.Verdict)
			}
		}
	}
}
