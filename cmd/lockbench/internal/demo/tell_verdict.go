package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
)

// verdict tells what the judges found of a run.
func (t *teller) verdict(res harness.Result, lock string) {
	t.line("")
	t.para("", t.lang.text("verdict.head", "lock", lock), t.bold)
	names, proofs := 0, 0 // how wide these columns are
	proof := map[checker.Property]string{}
	for _, r := range res.Report.Results {
		if r.Verdict == checker.Fail {
			proof[r.Property] = strings.Join(t.stepsOf(res, r.Witness), ", ")
			names, proofs = max(names, columns(t.property(r.Property))), max(proofs, columns(proof[r.Property]))
		}
	}
	kept := map[checker.Verdict][]checker.Property{}
	for _, r := range res.Report.Results {
		if r.Verdict != checker.Fail {
			kept[r.Verdict] = append(kept[r.Verdict], r.Property)
			continue
		}
		t.paint("  "+pad(t.property(r.Property), names)+"  ", "FAIL", "  "+pad(proof[r.Property], proofs)+"  ", t.lang.text("means."+string(r.Property)))
	}
	if res.Report.Verdict == checker.Pass {
		t.para("  ", t.lang.text("verdict.clean"), t.green)
	}
	for _, v := range []checker.Verdict{checker.Pass, checker.Unknown} {
		if len(kept[v]) > 0 {
			t.para("  ", t.lang.text("verdict."+v.String(), "properties", t.properties(kept[v])), nil)
		}
	}
	if res.Note != "" {
		t.para("  ", t.lang.said("demo."+t.lesson.Demo.Name+".note", res.Note), nil)
	}
	if res.Outcome != checker.AsExpected {
		t.para("  ", t.lang.text("verdict."+res.Outcome.String()+"-outcome"), t.red)
	}
	for _, n := range res.Meta.Notes {
		t.para("  ", n, t.dim)
	}
	t.wait()
}

// stepsOf are the numbers of the steps in which events happened.
func (t *teller) stepsOf(res harness.Result, events []int) []string {
	var all []string
	for _, e := range slices.Sorted(slices.Values(events)) {
		number := t.lang.text("verdict.end")
		for i, shot := range res.Album {
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
