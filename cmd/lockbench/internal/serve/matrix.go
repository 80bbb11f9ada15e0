package serve

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// The most that a matrix shows, for a store may have any names in it.
const (
	mostColumns = 100
	mostRows    = 300
)

// A matrix shows of each lock under each scenario the newest run that the store has.
type matrix struct {
	header
	Filter  filter    `json:"filter"`
	Looked  time.Time `json:"looked"` // when the store was looked at
	Runs    int       `json:"runs"`   // that it was made of
	Damaged int       `json:"damaged"`
	Locks   []string  `json:"locks"`
	Rows    []row     `json:"scenarios"`
	Hidden  int       `json:"hidden"` // locks and scenarios beyond those that fit
	List    string    `json:"-"`
	Oldest  time.Time `json:"oldest"` // of the runs shown
	Newest  time.Time `json:"newest"`
}

type row struct {
	Scenario string   `json:"scenario"`
	Pitfall  string   `json:"pitfall,omitempty"`
	Title    string   `json:"title,omitempty"`
	Cells    []*entry `json:"runs"` // one for each lock; null: not run
}

func (s *server) matrix(w http.ResponseWriter, r *http.Request) error {
	f, err := parseFilter(r.URL.Query())
	if err != nil {
		return err
	}
	all, err := s.index.runs()
	if err != nil {
		return err
	}
	m := newMatrix(f.apply(all.runs))
	m.header, m.Filter, m.Looked, m.List = s.header(r, "Matrix", "matrix"), f, all.at.UTC(), "/?"+f.query().Encode()
	return s.show(w, r, "matrix.html", m)
}

// newMatrix draws runs, newest first.
func newMatrix(runs []*entry) matrix {
	type cell struct{ scenario, lock string }
	m := matrix{Runs: len(runs), Locks: []string{}, Rows: []row{}}
	newest, locks, scenarios := map[cell]*entry{}, map[string]bool{}, map[string]*entry{}
	for _, e := range runs {
		if e.Lost() {
			m.Damaged++
			continue
		}
		at := cell{e.Scenario, e.Lock}
		if newest[at] != nil {
			continue
		}
		newest[at], locks[e.Lock] = e, true
		if scenarios[e.Scenario] == nil {
			scenarios[e.Scenario] = e
		}
	}
	m.Locks = sortedKeys(locks)
	named := sortedKeys(scenarios)
	slices.SortStableFunc(named, func(a, b string) int { // the catalogue's first
		x, y := scenarios[a].Pitfall, scenarios[b].Pitfall
		if (x == "") != (y == "") {
			return cmp.Compare(y, x)
		}
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)) // P99 before P100
	})
	m.Hidden = max(len(m.Locks)-mostColumns, 0) + max(len(named)-mostRows, 0)
	m.Locks, named = m.Locks[:min(len(m.Locks), mostColumns)], named[:min(len(named), mostRows)]
	for _, name := range named {
		e := scenarios[name]
		line := row{Scenario: name, Pitfall: e.Pitfall, Title: e.Title}
		for _, lock := range m.Locks {
			run := newest[cell{name, lock}]
			line.Cells = append(line.Cells, run)
			if run == nil {
				continue
			}
			if m.Oldest.IsZero() || run.Started.Before(m.Oldest) {
				m.Oldest = run.Started
			}
			if run.Started.After(m.Newest) {
				m.Newest = run.Started
			}
		}
		m.Rows = append(m.Rows, line)
	}
	return m
}
