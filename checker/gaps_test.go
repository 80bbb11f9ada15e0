package checker

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// without is a history without some of its events, and where they were.
func without(events []histories.Event, gone func(i int) bool) (left []histories.Event, gaps []int) {
	for i, e := range events {
		if gone(i) {
			gaps = append(gaps, len(left))
			continue
		}
		e.Index = len(left)
		left = append(left, e)
	}
	return left, gaps
}

// TestGapsAccuseNobody checks on random histories of which events are missing that nothing
// passes, that what fails would fail with all events too, and that nothing else goes wrong.
func TestGapsAccuseNobody(t *testing.T) {
	const seed = 20250104
	n := effort.Count(3_000, 10_000)
	broken, failed := 0, 0
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		events := randomHistory(rng)
		share := rng.Float64() / 3
		left, gaps := without(events, func(int) bool { return rng.Float64() < share })
		if len(gaps) == 0 || gaps[0] == len(left) {
			continue
		}
		if histories.Validate(left) != nil {
			broken++
		}
		report := Check(t.Context(), left, Options{Gaps: gaps}).WithGaps(gaps, len(left))
		if len(report.HarnessErrors) > 0 {
			t.Fatalf("history %d of seed %d, gaps at %v: %v\n%s", i, seed, gaps, report.HarnessErrors, show(left))
		}
		for _, res := range report.Results {
			switch res.Verdict {
			case Pass:
				t.Fatalf("history %d of seed %d, gaps at %v: %s passes\n%s", i, seed, gaps, res.Property, show(left))
			case Fail:
				failed++
				if whole := Check(t.Context(), events, Options{Properties: []Property{res.Property}}); whole.Verdict != Fail {
					t.Fatalf("history %d of seed %d, gaps at %v: %s fails, but not with all events: %s\n%s", i, seed, gaps, res.Property, res.Story, show(events))
				}
			}
		}
	}
	t.Logf("%d histories broke the rules, %d properties failed", broken, failed)
	if broken < n/4 || failed < n/20 {
		t.Error("too few to say anything")
	}
}

// TestGapsInTheCorpus leaves out each event of each recorded history in turn.
func TestGapsInTheCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	failed := 0
	for _, path := range files {
		file, err := histories.ReadFile(path, false)
		if err != nil {
			t.Fatal(err)
		}
		whole := Check(t.Context(), file.Events, Options{})
		if len(whole.HarnessErrors) > 0 {
			continue // it is no history of a lock
		}
		for gone := range len(file.Events) - 1 {
			left, gaps := without(file.Events, func(i int) bool { return i == gone })
			report := Check(t.Context(), left, Options{Gaps: gaps}).WithGaps(gaps, len(left))
			if len(report.HarnessErrors) > 0 {
				t.Errorf("%s without event %d: %v", path, gone, report.HarnessErrors)
			}
			for _, res := range report.Results {
				switch {
				case res.Verdict == Pass:
					t.Errorf("%s without event %d: %s passes", path, gone, res.Property)
				case res.Verdict != Fail:
				case whole.Result(res.Property).Verdict != Fail:
					t.Errorf("%s without event %d: %s fails: %s", path, gone, res.Property, res.Story)
				default:
					failed++
				}
			}
		}
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
}

// What breaks the rules before the first gap is nobody's to excuse.
func TestGapsExcuseOnlyWhatFollows(t *testing.T) {
	events := script(t, harmless)
	left, gaps := without(events, func(i int) bool { return i == 4 || i == 12 })
	if report := Check(t.Context(), left, Options{Gaps: gaps}); len(report.HarnessErrors) > 0 {
		t.Errorf("%v", report.HarnessErrors)
	}
	for name, gaps := range map[string][]int{"later": gaps[1:], "none": nil} {
		if report := Check(t.Context(), left, Options{Gaps: gaps}); len(report.HarnessErrors) == 0 || report.Verdict != Unknown {
			t.Errorf("%s: %+v", name, report)
		}
	}
}
