package explore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/checker"
)

// The columns of the overview that are not about one deviation.
const (
	Alone   = "no deviation"       // a program as it is, in fair weather
	Given   = "given fault"        // a program as it is, in which something goes wrong
	Several = "several deviations" // two or three, whichever they are
)

// Tried is what schedules came to that are in one column of the overview.
type Tried struct {
	Column string  `json:"column"`
	Played int     `json:"played"` // schedules in which all happened that was to happen
	Judged []Tally `json:"judged"` // properties that were put to the test, by name
}

// Tally is in how many schedules a property was put to the test, and how often it was broken.
type Tally struct {
	Property checker.Property `json:"property"`
	Held     int              `json:"held"`
	Broken   int              `json:"broken"`
	Counted  int              `json:"counted"` // of Broken, those that a lock with leases can keep
}

// columnOf is the column of the overview that a schedule is in.
func columnOf(p Program, ds []Deviation) string {
	switch {
	case len(ds) > 1:
		return Several
	case len(ds) == 1:
		return ds[0].Act.column()
	case p.Faultless || p.laned():
		return Alone
	}
	return Given
}

// column is that of the overview in which an act is: whatever its length and direction.
func (a Act) column() string { return cmp.Or(a.kind, a.jumps, a.Name) }

// columns are all columns of the overview, in order.
func columns() []string {
	all := []string{Alone, Given}
	for _, a := range Acts() {
		if !slices.Contains(all, a.column()) {
			all = append(all, a.column())
		}
	}
	return append(all, Several)
}

// tally adds what a schedule came to.
func (f *Found) tally(p Program, ds []Deviation, out Outcome) {
	if out.Missed || len(out.Pass)+len(out.Fail)+len(out.Unknown) == 0 {
		return // what was to happen did not, or it could not be played
	}
	t := Tried{Column: columnOf(p, ds), Played: 1}
	for _, property := range checker.Properties() {
		one := Tally{Property: property}
		if slices.Contains(out.Pass, property) {
			one.Held++
		}
		if slices.Contains(out.Fail, string(property)) {
			one.Broken++
		}
		if slices.Contains(out.Fails, property) {
			one.Counted++
		}
		if one.Held+one.Broken > 0 {
			t.Judged = append(t.Judged, one)
		}
	}
	f.addTried([]Tried{t})
}

// addTried adds what other schedules came to.
func (f *Found) addTried(more []Tried) {
	for _, t := range more {
		at := slices.IndexFunc(f.Tried, func(o Tried) bool { return o.Column == t.Column })
		if at < 0 {
			at, f.Tried = len(f.Tried), append(f.Tried, Tried{Column: t.Column, Judged: []Tally{}})
		}
		of := &f.Tried[at]
		of.Played += t.Played
		for _, j := range t.Judged {
			i, known := slices.BinarySearchFunc(of.Judged, j, func(a, b Tally) int { return cmp.Compare(a.Property, b.Property) })
			if !known {
				of.Judged = slices.Insert(of.Judged, i, Tally{Property: j.Property})
			}
			of.Judged[i].Held, of.Judged[i].Broken, of.Judged[i].Counted = of.Judged[i].Held+j.Held, of.Judged[i].Broken+j.Broken, of.Judged[i].Counted+j.Counted
		}
	}
}

// sound returns what an exploration cannot have written of a column.
func (t Tried) sound() error {
	if !slices.Contains(columns(), t.Column) {
		return fmt.Errorf("there is no such kind of deviation, want one of %q", columns())
	}
	if t.Played < 1 || t.Played > mostCounted {
		return fmt.Errorf("it was played %d times, want a number from 1 to %d", t.Played, mostCounted)
	}
	for i, j := range t.Judged {
		switch {
		case !slices.Contains(checker.Properties(), j.Property) || slices.ContainsFunc(t.Judged[:i], func(o Tally) bool { return o.Property == j.Property }):
			return fmt.Errorf("it has a property %q that there is not, or that it has twice", j.Property)
		case j.Held < 0 || j.Counted < 0 || j.Counted > j.Broken || j.Held > t.Played-j.Broken:
			return fmt.Errorf("%s held in %d and was broken in %d, of which %d count: want no more than the %d that were played", j.Property, j.Held, j.Broken, j.Counted, t.Played)
		}
	}
	return nil
}
