package explore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

func find(t testing.TB, name string) locks.Spec {
	t.Helper()
	lock, err := libraries.Catalogue().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func search(t *testing.T, lock locks.Spec, depth int, programs ...string) (explore.Found, explore.Options) {
	t.Helper()
	opt := explore.Options{Play: inProcess(), Depth: depth, Programs: programs, Among: libraries.Catalogue(), Jobs: 2}
	found, err := explore.Explore(t.Context(), lock, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, why := range found.GivenUp {
		t.Errorf("%s: given up: %s", lock.Name, why)
	}
	if len(found.Done) != len(found.Meant) || len(found.Meant) == 0 {
		t.Errorf("%s: %d of %d programs were explored", lock.Name, len(found.Done), len(found.Meant))
	}
	return found, opt
}

// broken are the properties that findings are about.
func broken(found explore.Found) []checker.Property {
	var all []checker.Property
	for _, f := range found.Findings {
		all = append(all, f.Broken...)
	}
	return all
}

// TestWithoutDeviation explores in fair weather locks that break there, and locks that do not.
func TestWithoutDeviation(t *testing.T) {
	for name, want := range map[string]checker.Property{
		"setnx-px-del": checker.Ownership, "rw-hash-timestamp": checker.LeaseHonoured, "reentrant-hash-thread-id": checker.StrictExclusion,
		"setnx-px-lua": "", "rw-hash": "", "redisson-style": "",
	} {
		found, _ := search(t, find(t, name), 0)
		if got := broken(found); want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s breaks %v in fair weather, want %q", name, got, want)
		}
	}
}

// TestOneDeviation finds that a release which looks and then deletes may delete what another has got meanwhile (P08), in fewer steps than
// the program had, and what the same search finds of a sound lock is a weakness of its class.
func TestOneDeviation(t *testing.T) {
	effort.Long(t)
	lock := find(t, "setnx-px-get-del")
	found, opt := search(t, lock, 1, "relay")
	if len(found.Findings) == 0 {
		t.Fatal("nothing was found")
	}
	f := found.Findings[0]
	if !slices.Contains(f.Broken, checker.Ownership) || len(f.KeptBy) < 2 {
		t.Errorf("found that %v is broken, and kept by %v; want ownership, and two locks at least", f.Broken, f.KeptBy)
	}
	if d := f.Deviations; len(d) != 1 || d[0].What != "GET" || !d[0].Reply {
		t.Errorf("found %v, want something at the reply to the GET of a release", d)
	}
	small, runs, err := explore.Shrink(t.Context(), f, lock, opt)
	if err != nil || runs < 10 {
		t.Fatalf("shrunk in %d runs: %v", runs, err)
	}
	if again, _, err := explore.Shrink(t.Context(), small, lock, opt); err != nil || again.Schedule().String() != small.Schedule().String() {
		t.Errorf("%v: what was shrunk can be shrunk again:\n%s\n%s", err, small.Schedule(), again.Schedule())
	}
	text, err := small.Text(t.Context(), lock, opt)
	if err != nil {
		t.Fatal(err)
	}
	if n := calls(text); n > 6 || len(text.Steps) > 10 {
		t.Errorf("%d calls in %d steps, want 6 and 10 at most:\n%s", n, len(text.Steps), text)
	}
	played, err := scenarios.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range played.Cases {
		spec := find(t, c.Lock)
		cfg, err := played.Config(spec, c.Guard, harness.Embedded(), 0)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Seed = 5 // any
		res, err := harness.Run(t.Context(), cfg)
		if err != nil || res.Outcome != checker.AsExpected {
			t.Errorf("%s: %v, %v; want what the schedule expects:\n%s", c.Lock, res.Outcome, err, text)
		}
	}

	sound, _ := search(t, find(t, "setnx-px-lua"), 1, "relay")
	if len(sound.Findings) > 0 || len(sound.Weaknesses) == 0 {
		t.Errorf("setnx-px-lua breaks %v; want nothing but weaknesses, of which there are %d", broken(sound), len(sound.Weaknesses))
	}
}

func calls(s schedule.Schedule) (n int) {
	for _, of := range s.Operations() {
		n += of
	}
	return n
}

// TestDeviations: whatever can be done at a command happens, and one that does nothing breaks nothing.
func TestDeviations(t *testing.T) {
	lock, backend := find(t, "setnx-px-get-del"), harness.Embedded()
	all, err := explore.Programs(lock, resource.None)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p explore.Program) bool { return p.Name == "relay" })
	relay := all[i]
	fair, err := explore.Run(t.Context(), relay, lock, backend)
	if err != nil || len(fair.Fail) > 0 || len(fair.Unknown) > 0 {
		t.Fatalf("in fair weather %v is broken, and %v unknown: %v", fair.Fail, fair.Unknown, err)
	}
	at := fair.Points[slices.IndexFunc(fair.Points, func(p explore.Point) bool { return p.What == "GET" })]
	for _, d := range relay.At(at, lock) {
		out, err := explore.Run(t.Context(), explore.Finding{Program: relay, Deviations: []explore.Deviation{d}}.Schedule(), lock, backend)
		if err != nil || out.Missed {
			t.Errorf("%v: missed %v, %v", d, out.Missed, err)
		}
	}
	none := explore.Deviation{Point: at, Reply: true, Act: explore.Act{Name: "nothing"}}
	out, err := explore.Run(t.Context(), explore.Finding{Program: relay, Deviations: []explore.Deviation{none}}.Schedule(), lock, backend)
	if err != nil || len(out.Fails) > 0 {
		t.Errorf("a deviation that does nothing breaks %v: %v", out.Fails, err)
	}
}

// TestCatalogueInFairWeather explores locks of the catalogue without deviations, every fourth by day: no sound lock is accused, and of
// the broken ones at least as many as were known to break when this was written.
func TestCatalogueInFairWeather(t *testing.T) {
	effort.Long(t)
	known, every := 4, 4
	if effort.Nightly() {
		known, every = 21, 1
	}
	var accused []string
	for i, lock := range libraries.Catalogue() {
		if i%every != 0 {
			continue
		}
		found, _ := search(t, lock, 0)
		switch {
		case len(found.Findings) == 0:
		case lock.Sound:
			t.Errorf("%s is sound, and is accused: %v in %s", lock.Name, broken(found), found.Findings[0].Schedule())
		default:
			accused = append(accused, lock.Name)
		}
	}
	if len(accused) < known {
		t.Errorf("%d broken locks are accused in fair weather, want %d at least: %s", len(accused), known, strings.Join(accused, ", "))
	}
}
