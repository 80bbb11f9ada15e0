package gate

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
)

// searched are results of a gate whose scenarios came out as expected, and of a search that found the same twice at one command.
func searched(done ...string) Results {
	return Results{
		Schema: schema, Backend: "embedded", Runs: 1, Shard: Shard{1, 1}, Planned: 1, Share: 1, Lock: "mine", Class: "one master, lease", Exploring: time.Second,
		Rows: []Row{{ID: "P07", Scenario: "delete-without-check", Role: Own, Lock: "mine", Guard: "none", Seed: 1, Outcome: Expected}},
		Gaps: []Gap{},
		Explored: []explore.Record{{
			Schema: explore.Schema, Explored: "mine", Guard: "none", Shard: 1, Shards: 1, Programs: []string{"once", "relay"}, Done: done, Runs: 7,
			Findings: []explore.Kept{
				{Program: "once", Kind: "delay during release", Title: "it is late", Broken: []checker.Property{checker.Ownership, checker.LeaseExclusion}, Schedule: "A: acquire\n", Command: "lockbench run 1.schedule"},
				{Program: "once", Kind: "pause during release", Title: "it stands still", Broken: []checker.Property{checker.Ownership}},
			},
			Weaknesses: []explore.Weakness{{Property: checker.StrictExclusion, Kind: "pause during acquire"}},
		}},
	}
}

func drawnAs(t *testing.T, draw func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExplored: what a search has found fails a gate that passes otherwise, unless it is known by its property and kind, or decides nothing.
func TestExplored(t *testing.T) {
	r := searched("once")
	if got := r.Outcome(Baseline{}); got != Unexpected {
		t.Errorf("%v, want unexpected", got)
	}
	for name, page := range map[string]string{
		"text":     drawnAs(t, func(b *bytes.Buffer) error { return r.Text(b, Baseline{}, report.Style{}) }),
		"JUnit":    drawnAs(t, func(b *bytes.Buffer) error { return r.JUnit(b, Baseline{}) }),
		"Markdown": drawnAs(t, func(b *bytes.Buffer) error { return r.Markdown(b, Baseline{}) }),
	} {
		for _, want := range []string{"ownership", "it is late", "lockbench run 1.schedule"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not tell %q:\n%s", name, want, page)
			}
		}
		if name != "JUnit" && !strings.Contains(page, "relay") {
			t.Errorf("%s does not tell what was not explored:\n%s", name, page)
		}
	}

	known := Baseline{}.Accept(r)
	if len(known.Findings) != 3 || known.Findings[0].ID != exploredID || known.Findings[0].Scenario != "delay during release" {
		t.Errorf("accepted: %+v", known.Findings)
	}
	if got := r.Outcome(known); got != Expected {
		t.Errorf("%v with all that was found known, want expected", got)
	}
	if page := drawnAs(t, func(b *bytes.Buffer) error { return r.JUnit(b, known) }); strings.Contains(page, "<failure") || !strings.Contains(page, "known: ") {
		t.Errorf("JUnit of what is known: %s", page)
	}
	known.Findings = slices.DeleteFunc(known.Findings, func(k Known) bool { return k.Scenario == "delay during release" })
	if got := r.Outcome(known); got != Unexpected {
		t.Errorf("%v with a part of what was found known, want unexpected", got)
	}

	r.FailOn = []checker.Property{checker.ResourceSafety}
	if got := r.Outcome(Baseline{}); got != Expected {
		t.Errorf("%v where other properties decide, want expected", got)
	}
}

// TestExploredGone: what is known is gone if a search came to its end and did not find it, and not if it had no time to.
func TestExploredGone(t *testing.T) {
	known := Baseline{Schema: schema, Findings: []Known{{ID: exploredID, Scenario: "crash during acquire", Lock: "mine", Guard: "none", Property: checker.Availability, Got: checker.Fail}}}
	if gone := known.Gone(searched("once")); len(gone) > 0 {
		t.Errorf("gone after half a search: %v", gone)
	}
	if gone := known.Gone(searched("once", "relay")); len(gone) != 1 {
		t.Errorf("gone after a whole search: %v, want what is known", gone)
	}
	if left := known.Accept(searched("once")); len(left.Findings) != 4 {
		t.Errorf("accepted after half a search: %v, want what was known as well", left.Findings)
	}
}

// TestExploredJUnit: a lock that was not explored whole has not passed.
func TestExploredJUnit(t *testing.T) {
	r := searched("once")
	r.Explored[0].Findings = nil
	if page := drawnAs(t, func(b *bytes.Buffer) error { return r.JUnit(b, Baseline{}) }); !strings.Contains(page, `skipped="1"`) {
		t.Errorf("half a search passed: %s", page)
	}
	r.Explored[0].Done = []string{"once", "relay"}
	if page := drawnAs(t, func(b *bytes.Buffer) error { return r.JUnit(b, Baseline{}) }); strings.Contains(page, `skipped="1"`) {
		t.Errorf("a whole search did not pass: %s", page)
	}
}

// TestSoundOfPlan: each sound lock is explored by one shard, and with --only those of the scenarios.
func TestSoundOfPlan(t *testing.T) {
	names := func(only string, shards int) (all []string) {
		for i := range shards {
			opt := Options{Seed: 1, Shard: Shard{i + 1, shards}}
			if only != "" {
				opt.Only = []string{only}
			}
			p, err := NewPlan(opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, lock := range p.Sound() {
				all = append(all, lock.Name)
			}
		}
		slices.Sort(all)
		return all
	}
	var sound []string
	for _, lock := range libraries.Catalogue() {
		if lock.Sound {
			sound = append(sound, lock.Name)
		}
	}
	slices.Sort(sound)
	if one, three := names("", 1), names("", 3); !slices.Equal(one, sound) || !slices.Equal(three, sound) {
		t.Errorf("explored: %v, by three shards %v, want %v", one, three, sound)
	}
	if some := names("P08", 1); len(some) == 0 || len(some) >= len(sound) || !slices.Contains(some, "setnx-px-lua") {
		t.Errorf("explored for P08: %v", some)
	}
}

// TestMergeExplored keeps what each shard explored.
func TestMergeExplored(t *testing.T) {
	one, two := searched("once"), searched("once")
	for i, r := range []*Results{&one, &two} {
		r.Shard, r.Planned = Shard{i + 1, 2}, 2
		r.Rows[0].At, r.Rows[0].Seed = i, uint64(i)
		r.Explored[0].Shard, r.Explored[0].Shards = i+1, 2
	}
	whole, err := Merge([]Part{{"1", one}, {"2", two}})
	if err != nil || len(whole.Explored) != 2 || whole.Outcome(Baseline{}) != Unexpected {
		t.Errorf("%v: %d parts", err, len(whole.Explored))
	}
	two.Exploring = 0
	if _, err := Merge([]Part{{"1", one}, {"2", two}}); err == nil {
		t.Error("merged a shard that explores with one that does not")
	}
}
