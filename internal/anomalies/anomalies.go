// Package anomalies has the names of what goes wrong with locks: one table of what each is, and of the causes that show it. A name
// is derived from a property that is broken and from the cause of that, never from what is said of them.
package anomalies

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Anomaly is something that goes wrong with locks, and that has a name. The zero value is none.
type Anomaly struct {
	Code       string // for life, such as A01
	Name       string // such as foreign release
	Definition string // one sentence
}

// String is the anomaly as people read it: A01 foreign release.
func (a Anomaly) String() string { return a.Code + " " + a.Name }

// All returns all anomalies, by their codes.
func All() []Anomaly {
	var all []Anomaly
	for _, r := range table() {
		if !slices.Contains(all, r.Anomaly) {
			all = append(all, r.Anomaly)
		}
	}
	slices.SortFunc(all, func(a, b Anomaly) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// Find returns the anomaly of that code. Of an empty one, which names none, and of an unknown one ok is false.
func Find(code string) (found Anomaly, ok bool) {
	all := All()
	if i := slices.IndexFunc(all, func(a Anomaly) bool { return a.Code == code }); i >= 0 {
		return all[i], true
	}
	return Anomaly{}, false
}

// Run is what names are derived from. The zero value has none.
type Run struct {
	Events  []histories.Event
	Renews  bool // the lock promises to renew its leases
	Threads int  // how many clients, from the first on, are threads of one process
	// ClockFaults and HungFaults are those by which the clock of a server goes wrong, and by which a server does not answer.
	ClockFaults, HungFaults []histories.F
}

// Name notes in each cause of the run the code of the anomaly that it shows. One that shows none keeps none.
func (r Run) Name(causes []checker.Cause) {
	rules := table()
	for i, c := range causes {
		if at := slices.IndexFunc(rules, func(u rule) bool { return u.holds(r, c) }); at >= 0 {
			causes[i].Anomaly = rules[at].Code
		}
	}
}

// Of returns the anomaly that some properties show: that of the first of the causes which explains one of them and has a name.
func Of(causes []checker.Cause, properties []checker.Property) (a Anomaly, ok bool) {
	for _, c := range causes {
		if a, ok = Find(c.Anomaly); ok && slices.ContainsFunc(c.Properties, func(p checker.Property) bool { return slices.Contains(properties, p) }) {
			return a, true
		}
	}
	return Anomaly{}, false
}

// Title is the anomaly with its definition, in a sentence and its name before it.
func (a Anomaly) Title() string { return fmt.Sprintf("%s: %s", a, a.Definition) }
