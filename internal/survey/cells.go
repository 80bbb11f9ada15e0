package survey

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/anomalies"
)

// Shown says by which pitfalls the catalogue shows an anomaly: numbers by code.
type Shown map[string][]string

// Cell judges an anomaly from the runs of a library.
func (p Played) Cell(code string, shown Shown) Cell {
	if p.Problem != "" {
		return Cell{Verdict: Unasked}
	}
	if c, ok := p.proven(code); ok {
		return c
	}
	if i := slices.IndexFunc(p.Again, func(r row) bool { return r.classShows(code) && classShows(p.First, r.ID, code) }); i >= 0 {
		return Cell{Verdict: Class, Pitfalls: []string{p.Again[i].ID}, Command: p.Again[i].Command}
	}
	if why, ok := p.Declared[code]; ok {
		return Cell{Verdict: Declared, Story: why}
	}
	return p.kept(code, shown)
}

// kept is the cell of an anomaly that was not seen. A run that shows another one instead says nothing of it.
func (p Played) kept(code string, shown Shown) Cell {
	cell := Cell{Verdict: Unasked}
	for _, r := range p.First {
		switch {
		case !slices.Contains(shown[code], r.ID) || r.Outcome == inapt:
		case r.Outcome == expected && cell.Verdict != Unclear:
			cell = Cell{Verdict: Free, Pitfalls: append(cell.Pitfalls, r.ID)}
		case r.Outcome == expected, r.showsOther(code):
		case p.Declared[r.ID] != "":
			return Cell{Verdict: Declared, Pitfalls: []string{r.ID}, Story: p.Declared[r.ID]}
		default:
			cell = Cell{Verdict: Unclear, Pitfalls: []string{r.ID}, Story: unclear(r)}
		}
	}
	return cell
}

// showsOther reports whether a run shows an anomaly, of the lock or of its class, and not that one.
func (r row) showsOther(code string) bool {
	all := append(r.shown(), r.named(r.failed(false))...)
	return len(all) > 0 && !slices.ContainsFunc(all, func(c cause) bool { return c.Anomaly == code })
}

// unclear is why nothing can be said.
func unclear(r row) string {
	switch r.Outcome {
	case unexpected:
		if len(r.shown()) > 0 {
			return "was seen once only"
		}
		return "breaks, and what was seen there has no name"
	case unavoidable:
		return "is kept by no lock of its class, and why was not to be read from its commands"
	}
	return "came to no verdict"
}

// proven is the cell of an anomaly that the library shows by its own fault, twice under the same pitfall: all these pitfalls, and what was seen
// under the first. What is declared counts only if there is nothing else.
func (p Played) proven(code string) (cell Cell, ok bool) {
	var declared Cell
	for _, again := range p.Again {
		i := slices.IndexFunc(again.shown(), func(c cause) bool { return c.Anomaly == code })
		if i < 0 || !shows(p.First, again.ID, code) {
			continue
		}
		c := again.shown()[i]
		switch why := cmp.Or(p.Declared[code], p.Declared[again.ID]); {
		case why != "" && declared.Verdict == "":
			declared = Cell{Verdict: Declared, Pitfalls: []string{again.ID}, Command: again.Command, Story: why}
		case why != "":
			declared.Pitfalls = append(declared.Pitfalls, again.ID)
		case !ok:
			cell, ok = Cell{Verdict: Shows, Pitfalls: []string{again.ID}, Command: again.Command, Story: c.told(), Wire: c.wire()}, true
		default:
			cell.Pitfalls = append(cell.Pitfalls, again.ID)
		}
	}
	if ok {
		return cell, true
	}
	return declared, declared.Verdict != ""
}

func shows(rows []row, id, code string) bool {
	return slices.ContainsFunc(rows, func(r row) bool {
		return r.ID == id && slices.ContainsFunc(r.shown(), func(c cause) bool { return c.Anomaly == code })
	})
}

// classShows reports whether a run shows the anomaly, and no lock of the class keeps what it breaks.
func (r row) classShows(code string) bool {
	return r.Outcome == unavoidable && slices.ContainsFunc(r.named(r.failed(false)), func(c cause) bool { return c.Anomaly == code })
}

func classShows(rows []row, id, code string) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.ID == id && r.classShows(code) })
}

// nameless is what a library breaks by its own fault, twice under the same pitfall, and what has no name. What one script confirms is told
// together.
func (p Played) nameless() []Cell {
	var all []Cell
	for _, again := range p.Again {
		same := func(r row) bool { return r.ID == again.ID && r.Outcome == unexpected && len(r.failed(true)) > 0 }
		if !same(again) || len(again.shown()) > 0 || !slices.ContainsFunc(p.First, same) {
			continue
		}
		c := Cell{Verdict: Shows, Pitfalls: []string{again.ID}, Command: again.Command, Story: strings.ReplaceAll(strings.Join(again.failed(true), ", "), "-", " ")}
		if why, ok := p.Declared[again.ID]; ok {
			c.Verdict, c.Story = Declared, why
		}
		script := p.Confirm[again.ID]
		before := slices.IndexFunc(all, func(o Cell) bool { return o.Verdict == Shows && script != "" && p.Confirm[o.Pitfalls[0]] == script })
		if before >= 0 && c.Verdict == Shows {
			all[before].Pitfalls = append(all[before].Pitfalls, again.ID)
			continue
		}
		all = append(all, c)
	}
	return all
}

// undecided are the pitfalls that came to no verdict.
func (p Played) undecided() []Undecided {
	all := []Undecided{}
	for _, r := range p.First {
		if r.open() {
			all = append(all, Undecided{r.ID, cmp.Or(brief(r.Reason), r.Outcome)})
		}
	}
	return all
}

// Finding is what all runs of a library say of it, without the occasion.
func (p Played) Finding(shown Shown) Finding {
	f := Finding{
		Name: p.Name, Language: p.Language, Version: p.Installed, Promises: p.Promises, Safely: p.Safely, Problem: p.Problem,
		Pitfalls: p.Asked, Applicable: len(p.First) - p.count(inapt), Kept: p.count(expected), Class: p.count(unavoidable),
		Cells: []Cell{}, Nameless: []Cell{}, Undecided: p.undecided(), Untimed: p.Default,
	}
	if p.Problem != "" {
		return f
	}
	for _, a := range anomalies.All() {
		c := p.Cell(a.Code, shown)
		c.Anomaly = a.Code
		f.Cells = append(f.Cells, p.evidenced(c))
	}
	for _, c := range p.nameless() {
		said := func(o Cell) bool { return o.Verdict == Declared && o.Story == c.Story }
		if c.Verdict == Declared && slices.ContainsFunc(append(f.Cells, f.Nameless...), said) {
			continue
		}
		f.Nameless = append(f.Nameless, p.evidenced(c))
	}
	return f
}

// about is what scripts and threads call a cell: the code of the anomaly, or the pitfall of what has no name.
func about(c Cell) string {
	if c.Anomaly != "" {
		return c.Anomaly
	}
	return c.Pitfalls[0]
}

// evidenced is a cell with what stands beside the runs: the schedule, what a direct script saw, and a thread upstream.
func (p Played) evidenced(c Cell) Cell {
	if c.Pitfalls == nil {
		c.Pitfalls = []string{}
	}
	if c.Wire == nil {
		c.Wire = []string{}
	}
	if c.Verdict != Shows {
		return c
	}
	c.Schedule, c.Upstream = p.Schedules[c.Pitfalls[0]], p.Upstream[about(c)]
	if confirmed, ok := p.Confirmed[about(c)]; ok {
		c.Confirmed = &confirmed
	}
	return c
}

// count is how many pitfalls had an outcome.
func (p Played) count(outcome string) int {
	n := 0
	for _, r := range p.First {
		if r.Outcome == outcome {
			n++
		}
	}
	return n
}
