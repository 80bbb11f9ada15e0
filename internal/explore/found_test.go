package explore_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

var update = flag.Bool("update", false, "search for the catalogue's broken locks again, and write what is found (make explored)")

// The files that TestCatalogueFound writes.
const (
	foundDir  = "found"
	provenDir = "proven"
	foundFile = "../../docs/explored.md"
)

// symptom is a property that is broken, and why.
type symptom struct {
	property checker.Property
	cause    checker.CauseKind // empty: it is not known
}

// symptoms are those of what is broken in a run.
func symptoms(fails []checker.Property, causes []checker.Cause) (all []symptom) {
	for _, p := range fails {
		known := false
		for _, c := range causes {
			if c.Derived() && slices.Contains(c.Properties, p) {
				all, known = append(all, symptom{p, same(c.Kind)}), true
			}
		}
		if !known {
			all = append(all, symptom{p, ""})
		}
	}
	return all
}

// same is one name for causes that are one mistake: a deadline that is counted from the answer is too late by as long as the answer took,
// and may be told when the lease is over.
func same(kind checker.CauseKind) checker.CauseKind {
	if kind == checker.GrantedLate {
		return checker.DeadlineTooLate
	}
	return kind
}

// failing are the properties that are expected to be broken.
func failing(want checker.Expectation) (all []checker.Property) {
	for p, v := range want {
		if v == checker.Fail {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// named are the symptoms of a broken lock in the scenarios that the catalogue names for it, and the scenarios by number.
func named(t *testing.T, lock locks.Spec) (all []symptom, pitfalls map[symptom]string) {
	t.Helper()
	pitfalls = map[symptom]string{}
	for _, s := range scenarios.All() {
		for _, c := range s.Cases {
			if c.Lock != lock.Name || c.Remedy != "" || len(failing(c.Want)) == 0 {
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
			for _, of := range symptoms(failing(c.Want), res.Causes) {
				if _, known := pitfalls[of]; !known {
					pitfalls[of] = cmp.Or(s.ID, s.Name)
				}
				all = append(all, of)
			}
		}
	}
	return all, pitfalls
}

// shown are the symptoms of a finding when its schedule is played as any other.
func shown(t *testing.T, f explore.Finding, lock locks.Spec) []symptom {
	t.Helper()
	p := f.Schedule()
	p.Lock = lock.Name
	s, err := scenarios.Of(p.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(lock, resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed = 1
	res, err := harness.Run(t.Context(), cfg)
	if err != nil {
		return nil
	}
	return symptoms(slices.DeleteFunc(slices.Clone(f.Broken), func(p checker.Property) bool {
		return res.Report.Result(p).Verdict != checker.Fail
	}), res.Causes)
}

// row is what a search has found of a lock.
type row struct {
	lock, pitfall string
	symptom       symptom
	finding       explore.Finding
	runs          int
	took          time.Duration // of processors
	text          string
	loose         string // before calls were made to wait for each other
}

// mostCalls is how many calls the clients of a found schedule have at most.
const mostCalls = 6

// searchFor looks for a schedule under which a lock shows a symptom that the catalogue names: the first that is short and comes out the
// same whatever time replies take, or the first.
func searchFor(t *testing.T, lock locks.Spec) (r row, ok bool) {
	t.Helper()
	want, pitfalls := named(t, lock)
	play := explore.InProcess()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before, err := osproc.Measure(t.Context(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	opt := explore.Options{Play: play, Depth: 1, Among: libraries.Catalogue(), Jobs: runtime.GOMAXPROCS(0), Done: func(_ string, runs int) { r.runs = runs }}
	opt.Found = func(f explore.Finding) {
		if ctx.Err() != nil {
			return
		}
		for _, s := range shown(t, f, lock) {
			if !slices.Contains(want, s) && len(want) > 0 {
				continue
			}
			f.Broken = append([]checker.Property{s.property}, slices.DeleteFunc(slices.Clone(f.Broken), func(p checker.Property) bool { return p == s.property })...)
			small, _, err := explore.Shrink(t.Context(), f, lock, opt)
			if err != nil {
				t.Error(err)
			}
			if !ok {
				r.finding, r.symptom, r.pitfall, ok = small, s, pitfalls[s], true
			}
			if small.Steady && calls(small.Program.Schedule) <= mostCalls {
				r.finding, r.symptom, r.pitfall = small, s, pitfalls[s]
				cancel()
				return
			}
		}
	}
	if _, err := explore.Explore(ctx, lock, opt); err != nil {
		t.Fatal(err)
	}
	after, err := osproc.Measure(t.Context(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	r.lock, r.took = lock.Name, after.CPU-before.CPU
	if !ok {
		return r, false
	}
	if !r.finding.Steady {
		r.finding = steadied(t, r.finding, lock, opt)
	}
	schedule, err := r.finding.Text(t.Context(), lock, opt)
	if err != nil {
		t.Fatal(err)
	}
	r.text = schedule.String()
	if schedule, err = r.finding.Loose().Text(t.Context(), lock, opt); err != nil {
		t.Fatal(err)
	}
	r.loose = schedule.String()
	return r, true
}

// steadied is a finding of the same property by another schedule of the program that comes out the same whatever time replies take, or else the
// same finding: what is a race in fair weather may be no race when a command is held.
func steadied(t *testing.T, f explore.Finding, lock locks.Spec, opt explore.Options) explore.Finding {
	t.Helper()
	opt.Found, opt.Done = nil, nil
	for rank := uint64(1); ; rank++ {
		next, err := explore.Ranked(t.Context(), lock, f.Program.Name, rank, f.Broken[0], opt)
		switch {
		case errors.Is(err, explore.ErrKept):
			continue
		case errors.Is(err, explore.ErrNoRank):
			return f
		case err != nil:
			t.Fatal(err)
		}
		small, _, err := explore.Shrink(t.Context(), next, lock, opt)
		if err != nil {
			t.Fatal(err)
		}
		if small.Steady && len(small.Deviations) > 0 {
			return small
		}
	}
}

// TestCatalogueFound searches for every broken lock of the catalogue from nothing but its name. Each must be found by a property and a
// cause of a scenario that the catalogue names for it. With -update it writes the schedules, and the table of them.
func TestCatalogueFound(t *testing.T) {
	if !*update && !effort.Nightly() {
		t.Skip("optional: the whole search takes minutes: it runs nightly, and TestFoundSchedules plays what it found")
	}
	var rows []string
	broken := 0
	for _, lock := range libraries.Catalogue() {
		if lock.Sound {
			continue
		}
		broken++
		t.Run(lock.Name, func(t *testing.T) {
			r, ok := searchFor(t, lock)
			if !ok {
				t.Fatalf("nothing was found in %d runs that the catalogue names", r.runs)
			}
			t.Logf("%v %s in %d runs, %v", r.symptom, r.pitfall, r.runs, r.took)
			if *update {
				write(t, filepath.Join(foundDir, lock.Name+".schedule"), r.text)
				write(t, filepath.Join(provenDir, lock.Name+".schedule"), r.loose)
				replace(t, r)
			}
			rows = append(rows, r.String())
		})
	}
	if *update && len(rows) == broken {
		write(t, foundFile, foundHead+strings.Join(rows, ""))
	}
}

// String is the row of the table.
func (r row) String() string {
	why, pitfall := cmp.Or(string(r.symptom.cause), "-"), cmp.Or(r.pitfall, "-")
	return fmt.Sprintf("| [%s](../internal/explore/found/%[1]s.schedule) | %s | %s | %s | %s | %d | %d | %.1f | %s |\n", r.lock, pitfall,
		strings.ReplaceAll(string(r.symptom.property), "-", " "), why, r.finding.Program.Name, r.finding.Rank, r.runs, r.took.Seconds(), r.finding.Title())
}

const foundHead = `# What a search finds of the catalogue's broken locks

Written by ` + "`make explored`" + `: from nothing but the name of a lock, the first schedule that breaks a property which locks of its class
keep, and for a cause that a scenario of the catalogue has, too (pitfall -: no scenario expects anything of the lock without a remedy;
cause -: none is known, and the property alone is compared). The rank is that of the schedule among those of its program (0: in fair
weather); runs and CPU seconds are those until it was found, runs of other locks included, on the machine that wrote this. Each schedule
has been made as short as it can be: each call waits for what had ended before it (` + "`after A.1`" + `), so that
` + "`lockbench run FILE --backend process`" + ` comes out as it says on real servers, in 19 of 20 runs at least on a busy machine.
Of two locks no such schedule was found: of setnx-px-watch-shared two threads must send their commands on one connection in turns, which
they do under the seed that its schedule names and not under every one, and redsync-fail-fast breaks or not as its goroutines take turns.

| lock | pitfall | property | cause | program | rank | runs | CPU s | what happens |
|---|---|---|---|---|---|---|---|---|
`

// replace writes the row of a lock into the table, whose order is that of the catalogue.
func replace(t *testing.T, r row) {
	t.Helper()
	table, err := os.ReadFile(foundFile)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{r.lock: r.String()}
	for line := range strings.Lines(string(table)) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| ["), "]("); ok && name != r.lock {
			rows[name] = line
		}
	}
	told := foundHead
	for _, lock := range libraries.Catalogue() {
		told += rows[lock.Name]
	}
	write(t, foundFile, told)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSoundLocks explores every sound lock of the catalogue with one deviation, and draws schedules of two. None is accused.
// LOCKBENCH_SAMPLES says how many are drawn for each: 50,000 are a million in all.
func TestSoundLocks(t *testing.T) {
	if !effort.Nightly() {
		t.Skip("optional: the whole search takes an hour: it runs nightly")
	}
	samples := 50_000
	if text := os.Getenv("LOCKBENCH_SAMPLES"); text != "" {
		var err error
		if samples, err = strconv.Atoi(text); err != nil {
			t.Fatalf("LOCKBENCH_SAMPLES: %v", err)
		}
	}
	// redsync says that a lock is taken when a majority said so, and may leave a key behind on a master whose answer was late.
	known := map[string]checker.Property{"redsync-context-timeout": checker.TruthfulReplies}
	var profiles explore.Profiles
	for _, lock := range libraries.Catalogue() {
		if !lock.Sound {
			continue
		}
		t.Run(lock.Name, func(t *testing.T) {
			found, err := explore.Explore(t.Context(), lock, explore.Options{
				Play: explore.InProcess(), Profiles: &profiles, Depth: 1, Samples: samples, Seed: 1, Among: libraries.Catalogue(), Jobs: runtime.GOMAXPROCS(0),
			})
			if err != nil || len(found.GivenUp) > 0 || len(found.Differing) > 0 {
				t.Errorf("%v, given up %v, differing %v", err, found.GivenUp, found.Differing)
			}
			for _, f := range found.Findings {
				if len(f.Broken) != 1 || f.Broken[0] != known[lock.Name] {
					t.Errorf("%v is broken in %s", f.Broken, f.Schedule())
				}
			}
			t.Logf("%d schedules, %d drawn, %d runs and %d of references, %d missed, %d not measured, %d played twice",
				found.Schedules, found.Drawn.N, found.Runs, found.Measures, found.Missed, found.Unmeasured, found.Twice)
		})
	}
}

// TestFoundSchedules plays the schedules that the search has found: each lock that they name does what they say. There is
// one of each broken lock, with three clients at most unless it is about threads, six calls, and a deviation.
func TestFoundSchedules(t *testing.T) {
	for _, lock := range effort.Part(libraries.Catalogue(), 2) {
		if lock.Sound {
			continue
		}
		text, err := os.ReadFile(filepath.Join(foundDir, lock.Name+".schedule"))
		if err != nil {
			t.Errorf("%s: %v", lock.Name, err)
			continue
		}
		s, err := scenarios.Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", lock.Name, err)
			continue
		}
		if s.Broken().Lock != lock.Name || len(failing(s.Broken().Want)) == 0 {
			t.Errorf("%s: the schedule is about %s, which breaks %v", lock.Name, s.Broken().Lock, failing(s.Broken().Want))
		}
		for _, c := range s.Cases {
			cfg, err := s.Config(find(t, c.Lock), c.Guard, harness.Embedded(), 0)
			if err != nil {
				t.Errorf("%s with %s: %v", lock.Name, c.Lock, err)
				continue
			}
			cfg.Seed = max(s.Script.Seed, 1) // what a doubtful property comes to may depend on it
			res, err := harness.Run(t.Context(), cfg)
			if err != nil || res.Outcome != checker.AsExpected {
				t.Errorf("%s with %s: %v, %v; want what the schedule expects", lock.Name, c.Lock, res.Outcome, err)
			}
		}
	}
}

// TestRanksOfFound: at the rank that the table names, among the schedules of the program, stands what the table says: something at a
// command of that name and client. Whatever is added to what can happen moves ranks; make explored writes them.
func TestRanksOfFound(t *testing.T) {
	text, err := os.ReadFile(foundFile)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| ["), "](")
		columns := strings.Split(rest, " | ")
		if !ok || !strings.HasPrefix(line, "| [") {
			continue
		}
		rank, err := strconv.ParseUint(columns[5], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, what, happens := strings.Cut(columns[8], "; ")
		if rank == 0 || !happens || !strings.Contains(what, " at ") {
			continue
		}
		lock := find(t, name)
		p := programOf(t, lock, columns[4])
		fair, err := explore.Run(t.Context(), p, lock, harness.Embedded())
		if err != nil {
			t.Fatal(err)
		}
		s := explore.NewSpace(p, fair.Points, lock)
		if rank >= s.Len() {
			t.Errorf("%s: rank %d of %d schedules", name, rank, s.Len())
			continue
		}
		d := s.At(rank)[0]
		act, _, _ := strings.Cut(d.Act.Name, " ") // lengths are made as short as they can be
		// Where a client was left out, the others have moved up.
		if !strings.HasPrefix(what, act) || !strings.Contains(what, "'s "+d.What) {
			t.Errorf("%s: at rank %d stands %q, and the table says %q", name, rank, d, what)
		}
		rows++
	}
	if rows < 15 {
		t.Errorf("%d rows of the table were looked at, want 15 at least", rows)
	}
}

// TestTableOfFound: the table names each broken lock.
func TestTableOfFound(t *testing.T) {
	text, err := os.ReadFile(foundFile)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, lock := range libraries.Catalogue() {
		if lock.Sound {
			continue
		}
		if n++; !strings.Contains(string(text), "| ["+lock.Name+"](") {
			t.Errorf("%s names no %s; make explored writes it", foundFile, lock.Name)
		}
	}
	if got := strings.Count(string(text), "\n| ["); got != n {
		t.Errorf("%s has %s, want %d", foundFile, words.Count(got, "lock"), n)
	}
}
