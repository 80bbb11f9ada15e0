package explore

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
)

// State is what a search knows of a property under deviations of one column. Its zero value is that nothing was tried.
type State string

// The states, the worst first.
const (
	Broken     State = "broken"     // a finding breaks it
	Class      State = "class"      // it was broken, and other locks of its class break it too, or any with leases
	Unmeasured State = "unmeasured" // it was broken, and no other lock can play the program
	Clean      State = "clean"      // it was put to the test, and always held
	Untested   State = "untested"   // schedules were played, and none put it to the test
	NotTried   State = ""
)

// Overview is what was found of each property under each column of deviations.
type Overview struct {
	Columns  []string // those that were tried, in order
	Played   []int    // schedules in each
	NotTried []string // the others
	Rows     []Row
}

// Row is what was found of one property: a cell for each column.
type Row struct {
	Property checker.Property
	Cells    []Cell
}

// Cell is what is known of a property under deviations of one column.
type Cell struct {
	State    State
	Findings []int // that break it, by their places in the record
	Held     int   // schedules in which it held
	Broken   int   // schedules in which it was broken
}

// Overview is that of a record.
func (r Record) Overview() (o Overview) {
	var tried []Tried
	for _, name := range columns() {
		if i := slices.IndexFunc(r.Tried, func(t Tried) bool { return t.Column == name && t.Played > 0 }); i >= 0 {
			o.Columns, o.Played, tried = append(o.Columns, name), append(o.Played, r.Tried[i].Played), append(tried, r.Tried[i])
		} else {
			o.NotTried = append(o.NotTried, name)
		}
	}
	for _, p := range checker.Properties() {
		row, judged := Row{Property: p}, false
		for _, t := range tried {
			c := r.cell(p, t)
			judged = judged || c.Held+c.Broken > 0
			row.Cells = append(row.Cells, c)
		}
		if judged {
			o.Rows = append(o.Rows, row)
		}
	}
	return o
}

// cell is what is known of a property in a column.
func (r Record) cell(p checker.Property, t Tried) (c Cell) {
	var tally Tally
	if i := slices.IndexFunc(t.Judged, func(j Tally) bool { return j.Property == p }); i >= 0 {
		tally = t.Judged[i]
	}
	c.Held, c.Broken, c.State = tally.Held, tally.Broken, Untested
	for i, k := range r.Findings { // or what is smaller has shown it
		if slices.Contains(k.Broken, p) && (k.Column == t.Column || tally.Counted > 0 && k.covers(t.Column)) {
			c.Findings = append(c.Findings, i)
		}
	}
	shared := func(w Weakness) bool {
		return w.Column == t.Column && (w.Property == p || slices.Contains(follows(p), w.Property))
	}
	switch {
	case len(c.Findings) > 0:
		c.State = Broken
	case tally.Broken > 0 && (tally.Counted == 0 || slices.ContainsFunc(r.Weaknesses, shared)):
		c.State = Class
	case tally.Broken > 0:
		c.State = Unmeasured
	case tally.Held > 0:
		c.State = Clean
	}
	return c
}

// covers reports whether what breaks in schedules of a column may be what the finding has shown with less: a program alone, or one of
// several deviations.
func (k Kept) covers(column string) bool { return len(k.Deviations) == 0 || column == Several }
