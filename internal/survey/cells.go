package survey

import (
	"slices"
	"strings"
)

// Verdict is what is said of a library and an anomaly.
type Verdict string

// The verdicts. Only the first accuses.
const (
	Shows    Verdict = "**shows it**"
	Declared Verdict = "declared"
	Class    Verdict = "no lock of its class is free of it"
	Free     Verdict = "free of it"
	Unclear  Verdict = "unclear" // it was asked, and what came of it has no such name, was seen once only, or is unknown
	Unasked  Verdict = "cannot be asked"
)

// Cell is what was found of a library and an anomaly.
type Cell struct {
	Verdict Verdict
	Because string // the pitfall, or what is documented
	Command string // that shows it
	Story   string
	Wire    []string
}

// Shown says by which pitfalls the catalogue shows an anomaly: numbers by code.
type Shown map[string][]string

// Cell judges an anomaly from the runs of a library.
func (p Played) Cell(code string, shown Shown) Cell {
	if p.Problem != "" {
		return Cell{Verdict: Unasked, Because: p.Problem}
	}
	if c, ok := p.proven(code); ok {
		return c
	}
	if i := slices.IndexFunc(p.Again, func(r row) bool { return r.classShows(code) && classShows(p.First, r.ID, code) }); i >= 0 {
		return Cell{Verdict: Class, Because: p.Again[i].ID, Command: p.Again[i].Command}
	}
	if why, ok := p.Declared[code]; ok {
		return Cell{Verdict: Declared, Because: why}
	}
	return p.kept(code, shown)
}

// kept is the cell of an anomaly that was not seen. A run that shows another one instead says nothing of it.
func (p Played) kept(code string, shown Shown) Cell {
	cell := Cell{Verdict: Unasked}
	for _, r := range p.First {
		switch {
		case !slices.Contains(shown[code], r.ID) || r.Outcome == inapt:
		case r.Outcome == expected && cell.Verdict == Unasked:
			cell = Cell{Verdict: Free, Because: r.ID}
		case r.Outcome == expected, r.showsOther(code):
		case p.Declared[r.ID] != "":
			return Cell{Verdict: Declared, Because: p.Declared[r.ID]}
		default:
			cell = Cell{Verdict: Unclear, Because: r.ID, Story: unclear(r)}
		}
	}
	return cell
}

// showsOther says whether a run shows an anomaly, of the lock or of its class, and not that one.
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

// proven is the cell of an anomaly that the library shows by its own fault, twice under the same pitfall.
func (p Played) proven(code string) (Cell, bool) {
	for _, again := range p.Again {
		for _, c := range again.shown() {
			if c.Anomaly != code || !shows(p.First, again.ID, code) {
				continue
			}
			if why, ok := p.Declared[code]; ok {
				return Cell{Verdict: Declared, Because: why, Command: again.Command}, true
			}
			if why, ok := p.Declared[again.ID]; ok {
				return Cell{Verdict: Declared, Because: why, Command: again.Command}, true
			}
			return Cell{Verdict: Shows, Because: again.ID, Command: again.Command, Story: c.told(), Wire: c.wire()}, true
		}
	}
	return Cell{}, false
}

func shows(rows []row, id, code string) bool {
	return slices.ContainsFunc(rows, func(r row) bool {
		return r.ID == id && slices.ContainsFunc(r.shown(), func(c cause) bool { return c.Anomaly == code })
	})
}

// classShows says whether a run shows the anomaly, and no lock of the class keeps what it breaks.
func (r row) classShows(code string) bool {
	return r.Outcome == unavoidable && slices.ContainsFunc(r.named(r.failed(false)), func(c cause) bool { return c.Anomaly == code })
}

func classShows(rows []row, id, code string) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.ID == id && r.classShows(code) })
}

// Nameless is what a library breaks by its own fault, twice under the same pitfall, and what has no name.
func (p Played) Nameless() []Cell {
	var all []Cell
	for _, again := range p.Again {
		same := func(r row) bool { return r.ID == again.ID && r.Outcome == unexpected && len(r.failed(true)) > 0 }
		if !same(again) || len(again.shown()) > 0 || !slices.ContainsFunc(p.First, same) {
			continue
		}
		c := Cell{Verdict: Shows, Because: again.ID, Command: again.Command, Story: strings.ReplaceAll(strings.Join(again.failed(true), ", "), "-", " ")}
		if why, ok := p.Declared[again.ID]; ok {
			c = Cell{Verdict: Declared, Because: again.ID, Command: again.Command, Story: why}
		}
		all = append(all, c)
	}
	return all
}
