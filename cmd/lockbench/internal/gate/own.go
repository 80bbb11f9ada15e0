package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
)

// ownText tells what became of the user's lock: what is its own fault, by cause; what cannot be
// said; what no lock of its class survives, once; and what does not apply.
func (r Results) ownText(page *report.Page, known Baseline) {
	faults := r.faults(known)
	if h := head(faults); h != "" {
		page.Para("", h, report.Bad)
		page.Line()
	}
	for i, f := range faults {
		f.text(page, i+1, r.Runs)
	}
	r.doubts(page, known, len(faults) > 0)
	r.accepted(page, known)
	if weak := r.weaknesses(); len(weak) > 0 {
		page.Para(" ", fmt.Sprintf("No lock of this class (%s) survives these, and they decide nothing. What does:", r.Class), report.Plain)
		wide := 0
		for _, w := range weak {
			wide = max(wide, len(w.what))
		}
		for _, w := range weak {
			page.Para("    "+page.Cell(w.what, wide, report.Plain)+"  ", strings.Join(w.scenarios, ", "), report.Quiet)
		}
		page.Line()
	}
	r.left(page)
}

// text tells a fault, and how to see it.
func (f fault) text(page *report.Page, number, runs int) {
	page.Para(fmt.Sprintf("%2d  ", number), f.sentence(), report.Strong)
	page.Para("    ", strings.Join(f.scenarios(runs), ", ")+": "+strings.Join(labels(f.properties), ", "), report.Plain)
	if command := f.rows[0].Command; command != "" {
		page.Line("    ", page.Cell(command, 0, report.Plain)) // to be copied, however long
	}
	page.Line()
}

// doubts tells what could not be judged, or not be played. Beside faults, which say more, it
// is told in brief.
func (r Results) doubts(page *report.Page, known Baseline, brief bool) {
	told := false
	var unknown []string
	for _, g := range r.groups(known) {
		for _, p := range g.problems(known) {
			switch {
			case p.outcome == Unknown && brief:
				unknown = append(unknown, p.id+" "+p.scenario)
			case p.outcome == Unknown, p.outcome == Failed:
				p.text(page, known)
				told = true
			}
		}
	}
	if len(unknown) > 0 {
		page.Para(" "+page.Cell("unknown", 7, report.Doubtful)+"  ", strings.Join(unknown, ", ")+": what of them could not be judged counts as not held.", report.Plain)
		told = true
	}
	if told {
		page.Line()
	}
}

// accepted tells what the baseline knows and was found again.
func (r Results) accepted(page *report.Page, known Baseline) {
	told := map[string]bool{}
	for _, g := range r.groups(known) {
		for _, row := range g.rows {
			if known.knows(row) && !told[g.id] {
				page.Para(" "+page.Cell("known", 7, report.Doubtful)+"  "+page.Cell(g.id, 3, report.Plain)+"  ", g.name+": "+brief(row), report.Plain)
				told[g.id] = true
			}
		}
	}
	if len(told) > 0 {
		page.Line()
	}
}

// left tells what was not played, by reason.
func (r Results) left(page *report.Page) {
	reasons := r.notPlayed()
	if len(reasons) == 0 {
		return
	}
	page.Line(" Not played, and not counted as held:")
	for _, w := range reasons {
		page.Para("    ", strings.Join(w.scenarios, ", ")+": "+w.what, report.Quiet)
	}
	page.Line()
}

// line is what several scenarios have in common.
type line struct {
	what      string
	scenarios []string
}

// notPlayed are the scenarios that say nothing of the lock, by reason.
func (r Results) notPlayed() []line {
	var lines []line
	add := func(what, id string) {
		i := slices.IndexFunc(lines, func(l line) bool { return l.what == what })
		if i < 0 {
			i = len(lines)
			lines = append(lines, line{what: what})
		}
		if !slices.Contains(lines[i].scenarios, id) {
			lines[i].scenarios = append(lines[i].scenarios, id)
		}
	}
	for _, g := range r.groups(Baseline{}) {
		for _, row := range g.rows {
			if row.Outcome == NotApplicable {
				add(firstLine(row.Reason), g.id)
			}
		}
		for _, gap := range g.gaps {
			add(gap.Reason, g.id)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(len(b.scenarios), len(a.scenarios)) })
	return lines
}

// weaknesses are the scenarios that no lock of the class survives, by what does: as few guards,
// classes and remedies as there can be.
func (r Results) weaknesses() []line {
	type weak struct {
		name string
		by   []string
	}
	var left []weak
	for _, g := range r.groups(Baseline{}) {
		w := weak{name: g.id + " " + g.name}
		for _, row := range g.rows {
			if len(row.Unavoidable()) == 0 || row.Outcome != Unavoidable && len(row.Survivors) == 0 {
				continue
			}
			for _, s := range row.Survivors {
				w.by = append(w.by, s.what())
			}
			if len(row.Survivors) == 0 {
				w.by = append(w.by, "nothing that is known")
			}
		}
		if len(w.by) > 0 {
			left = append(left, w)
		}
	}
	var lines []line
	for len(left) > 0 {
		var best line
		for _, w := range left {
			for _, by := range w.by {
				l := line{what: by}
				for _, other := range left {
					if slices.Contains(other.by, by) {
						l.scenarios = append(l.scenarios, other.name)
					}
				}
				if len(l.scenarios) > len(best.scenarios) {
					best = l
				}
			}
		}
		lines = append(lines, best)
		left = slices.DeleteFunc(left, func(w weak) bool { return slices.Contains(w.by, best.what) })
	}
	return lines
}

func properties(findings []Finding) []string {
	var all []checker.Property
	for _, f := range findings {
		all = append(all, f.Property)
	}
	return labels(all)
}

// Survivor is a lock of the catalogue, with a guard and a remedy, that was seen to keep what no
// lock of the class does.
type Survivor struct {
	Lock   string `json:"lock"`
	Guard  string `json:"guard"`
	Remedy string `json:"remedy,omitempty"`
}

// what is what saves it: its guard, the remedy, or else its class.
func (s Survivor) what() string {
	switch {
	case s.Remedy != "":
		return "remedy " + s.Remedy
	case s.Guard != resource.None.String():
		return fmt.Sprintf("guard %s, with %s", s.Guard, s.Lock)
	}
	spec, err := libraries.Catalogue().Find(s.Lock)
	if err != nil {
		return s.Lock
	}
	return fmt.Sprintf("%s (%s)", s.Lock, spec.Class())
}

// ownMarkdown tells of the user's lock what ownText does.
func (r Results) ownMarkdown(b *strings.Builder, known Baseline) {
	faults := r.faults(known)
	if h := head(faults); h != "" {
		fmt.Fprintf(b, "\n%s\n", report.Escape(report.Prose(h)))
	}
	for i, f := range faults {
		fmt.Fprintf(b, "\n### %s Cause %d: %s\n\n%s\n\n> %s\n", report.MarkUnexpected, i+1, report.Escape(strings.Join(labels(f.properties), ", ")),
			report.Escape(strings.Join(f.scenarios(r.Runs), ", ")), report.Escape(report.Prose(f.sentence())))
		if command := f.rows[0].Command; command != "" {
			b.WriteString("\n" + report.Fence(command))
		}
	}
	if weak := r.weaknesses(); len(weak) > 0 {
		fmt.Fprintf(b, "\nNo lock of this class (%s) survives these, and they decide nothing:\n\n| what does | scenarios |\n|---|---|\n", report.Escape(r.Class))
		for _, w := range weak {
			fmt.Fprintf(b, "| %s | %s |\n", report.Escape(w.what), report.Escape(strings.Join(w.scenarios, ", ")))
		}
	}
}
