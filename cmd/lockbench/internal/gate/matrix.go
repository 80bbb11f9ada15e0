package gate

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// State is what a pitfall does to a lock.
type State string

// The states.
const (
	Held         State = "held"
	IsBroken     State = "broken"      // by a fault of the lock's own
	OfClass      State = "unavoidable" // and no lock of its class does better
	DoesNotApply State = "not-applicable"
	NotKnown     State = "unknown"
)

// Cell is one pitfall and one lock.
type Cell struct {
	ID       string `json:"id"`
	Scenario string `json:"scenario"`
	Lock     string `json:"lock"`
	Guard    string `json:"guard"`
	State    State  `json:"state"`
	// Violated are the properties that broke: those that another lock of the class keeps, or if
	// that is the state, those that none keeps.
	Violated []checker.Property `json:"violated,omitempty"`
	Reason   string             `json:"reason,omitempty"`  // of what does not apply or is unknown
	Command  string             `json:"command,omitempty"` // shows that it breaks
}

// Matrix is every lock under every pitfall.
type Matrix struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"`
	Backend string `json:"backend"`
	Seed    uint64 `json:"seed"`
	Runs    int    `json:"runs"`
	Cells   []Cell `json:"cells"` // in the order of pitfalls, then of locks

	pitfalls []pitfall
	locks    []locks.Spec
}

// pitfall is a row of a matrix.
type pitfall struct{ id, name, title, guard string }

// NewMatrix plans a run of every lock under every scenario, each with the guard that the
// scenario is about.
func NewMatrix(opt Options, all []locks.Spec) (*Plan, error) {
	opt = opt.withDefaults()
	whole := &Plan{opt: opt, bench: newBench(opt)}
	whole.opt.Subject = &Subject{}
	for _, lock := range all {
		one := opt
		one.Subject = &Subject{Lock: lock}
		p, err := NewPlan(one)
		if err != nil {
			return nil, err
		}
		whole.items, whole.gaps = append(whole.items, p.items...), append(whole.gaps, p.gaps...)
	}
	whole.planned = len(whole.items)
	return whole, nil
}

// MatrixOf draws the matrix from what the runs of NewMatrix showed. What was not done is
// unknown.
func (p *Plan) MatrixOf(r Results, all []locks.Spec) (Matrix, error) {
	m := Matrix{Schema: schema, Version: r.Version, Backend: r.Backend, Seed: r.Seed, Runs: r.Runs, Cells: []Cell{}, locks: all}
	chosen, err := choose(p.opt.Catalogue, p.opt.Only)
	if err != nil {
		return m, err
	}
	type place struct{ scenario, lock string }
	rows, gaps := map[place][]Row{}, map[place]Gap{}
	for _, row := range r.Rows {
		at := place{row.Scenario, row.Lock}
		rows[at] = append(rows[at], row)
	}
	for _, g := range r.Gaps {
		gaps[place{g.Scenario, g.Lock}] = g
	}
	for _, s := range chosen {
		m.pitfalls = append(m.pitfalls, pitfall{s.ID, s.Name, s.Title, s.Broken().Guard.String()})
		for _, l := range all {
			at := place{s.Name, l.Name}
			m.Cells = append(m.Cells, cell(s, l, rows[at], gaps[at], r.Runs))
		}
	}
	return m, nil
}

// cell sums up the runs of a lock under a scenario.
func cell(s scenarios.Scenario, lock locks.Spec, rows []Row, gap Gap, runs int) Cell {
	c := Cell{ID: s.ID, Scenario: s.Name, Lock: lock.Name, Guard: s.Broken().Guard.String(), State: NotKnown, Reason: "it was not played"}
	switch {
	case gap.NotApplicable:
		c.State, c.Reason = DoesNotApply, gap.Reason
		return c
	case gap.Reason != "":
		c.Reason = gap.Reason
		return c
	}
	expected := 0
	for _, row := range rows {
		switch row.Outcome {
		case Unexpected:
			if c.State != IsBroken {
				c.State, c.Reason, c.Command, c.Violated = IsBroken, "", row.Command, nil
			}
			for _, f := range row.Findings() {
				if f.Got == checker.Fail && !slices.Contains(c.Violated, f.Property) {
					c.Violated = append(c.Violated, f.Property)
				}
			}
		case Unavoidable:
			if c.State == NotKnown {
				c.State, c.Reason = OfClass, ""
				for _, f := range row.Unavoidable() {
					c.Violated = append(c.Violated, f.Property)
				}
			}
		case Expected:
			expected++
		case NotApplicable:
			if c.State == NotKnown {
				c.State, c.Reason = DoesNotApply, row.Reason
			}
		default:
			if c.State == NotKnown {
				c.Reason, c.Command = cmp.Or(story(row), what(row)), row.Command
			}
		}
	}
	if expected == runs && len(rows) == runs {
		c.State, c.Reason = Held, ""
	}
	return c
}

// Marshal is the JSON of m.
func (m Matrix) Marshal() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// at is the cell of a pitfall and a lock.
func (m Matrix) at(pitfall, lock int) Cell { return m.Cells[pitfall*len(m.locks)+lock] }

// count counts the cells in a state.
func (m Matrix) count(s State) int {
	n := 0
	for _, c := range m.Cells {
		if c.State == s {
			n++
		}
	}
	return n
}

// family is a group of locks that are drawn side by side.
type family struct {
	name    string
	members []int // of Matrix.locks
}

// families groups the locks.
func (m Matrix) families() []family {
	all := []family{
		{name: "One key, broken by design"}, {name: "One key"}, {name: "Re-entrant"}, {name: "Readers and writers"},
		{name: "Majority of masters"}, {name: "Libraries"},
	}
	for i, l := range m.locks {
		f := 0
		switch {
		case l.Library() != "":
			f = 5
		case l.Masters > 1:
			f = 4
		case l.ReadWrite:
			f = 3
		case l.Reenters:
			f = 2
		case l.Sound:
			f = 1
		}
		all[f].members = append(all[f].members, i)
	}
	return slices.DeleteFunc(all, func(f family) bool { return len(f.members) == 0 })
}
