package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
)

// verdict tells what the judges found of a run.
func (t *teller) verdict(res harness.Result, lock string) {
	t.gap()
	t.para("", t.lang.text("verdict.head", "lock", lock), strong)
	kept := map[checker.Verdict][]checker.Property{}
	for _, r := range res.Report.Results {
		if r.Verdict != checker.Fail {
			kept[r.Verdict] = append(kept[r.Verdict], r.Property)
			continue
		}
		t.add(block{
			kind: proof, label: t.property(r.Property), mark: strings.Join(t.stepsOf(res, r.Witness), ", "),
			text: t.lang.text("means." + string(r.Property)),
		})
	}
	if res.Report.Verdict == checker.Pass {
		t.para("  ", t.lang.text("verdict.clean"), good)
	}
	for _, v := range []checker.Verdict{checker.Pass, checker.Unknown} {
		if len(kept[v]) > 0 {
			t.para("  ", t.lang.text("verdict."+v.String(), "properties", t.properties(kept[v])), plain)
		}
	}
	if res.Note != "" {
		t.para("  ", t.lang.said(t.noteOf(res), res.Note), plain)
	}
	if res.Outcome != checker.AsExpected {
		t.para("  ", t.lang.text(t.outcomeOf(res)), bad)
	}
	for _, n := range res.Meta.Notes {
		t.para("  ", n, quiet)
	}
	t.turn()
}

// noteOf is the key of what the catalogue says of a survivor. Of the reader's own lock the demo has no text.
func (t *teller) noteOf(res harness.Result) string {
	if t.lesson.Own != nil && t.now.part == broken {
		return "note." + res.Config.Lock.Name
	}
	return "demo." + t.lesson.Demo.Name + ".note"
}

// outcomeOf is the key of what is said of an outcome that was not expected. Of a lock that the catalogue does
// not name for the scenario it expects what a survivor keeps.
func (t *teller) outcomeOf(res harness.Result) string {
	own := t.lesson.Own != nil && t.now.part == broken && !t.lesson.Scenario.Names(res.Config.Lock.Name, res.Config.Guard)
	switch {
	case own && res.Outcome == checker.Unexpected:
		return "own.breaks"
	case own:
		return "own.unknown"
	}
	return "verdict." + res.Outcome.String() + "-outcome"
}

// stepsOf are the numbers of the steps in which events happened.
func (t *teller) stepsOf(res harness.Result, events []int) []string {
	var all []string
	for _, e := range slices.Sorted(slices.Values(events)) {
		number := t.lang.text("verdict.end")
		for i, shot := range res.Snapshots {
			if e < shot.Events && shot.Step.Verb != "" {
				number = fmt.Sprint(i + 1)
				break
			}
		}
		if len(all) == 0 || all[len(all)-1] != number {
			all = append(all, number)
		}
	}
	return all
}

func (t *teller) property(p checker.Property) string { return t.lang.text("property." + string(p)) }

func (t *teller) properties(all []checker.Property) string {
	var names []string
	for _, p := range all {
		names = append(names, t.property(p))
	}
	return strings.Join(names, t.lang.text("comma"))
}
