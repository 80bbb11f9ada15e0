package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/scenarios"
)

// Baseline is what is known and accepted. The zero value knows nothing.
type Baseline struct {
	Schema   int     `json:"schema"`
	Findings []Known `json:"findings"`
}

// Known is one finding: a property of a lock that did not come out as wanted, in any seed.
type Known struct {
	ID       string           `json:"id"`
	Scenario string           `json:"scenario"`
	Lock     string           `json:"lock"`
	Guard    string           `json:"guard"`
	Remedy   string           `json:"remedy,omitempty"`
	Property checker.Property `json:"property"`
	Got      checker.Verdict  `json:"got"`
}

func known(row Row, f Finding) Known {
	return Known{ID: row.ID, Scenario: row.Scenario, Lock: row.Lock, Guard: row.Guard, Remedy: row.Remedy, Property: f.Property, Got: f.Got}
}

// Unjudged is the property of a run that ended before it could be judged.
const unjudged checker.Property = "all"

// findings are what a run found, as a baseline keeps it. What the harness failed at is never
// accepted.
func findings(row Row) []Known {
	var all []Known
	for _, f := range row.Findings() {
		all = append(all, known(row, f))
	}
	if row.Outcome == Unknown && len(all) == 0 {
		all = append(all, known(row, Finding{Judged: checker.Judged{Property: unjudged, Got: checker.Unknown}}))
	}
	return all
}

// ReadBaseline reads a baseline. One that does not exist is an error that says what to do.
func ReadBaseline(file string) (Baseline, error) {
	var b Baseline
	err := readJSON(file, "a baseline as lockbench gate --update-baseline writes it", &b)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b, fmt.Errorf("%w; --update-baseline creates it", err)
	case err != nil:
		return b, err
	case b.Schema != schema:
		return b, fmt.Errorf(`%s: "schema" is %d, want %d: it is not of lockbench gate --update-baseline, or another version wrote it`, file, b.Schema, schema)
	}
	return b, nil
}

// outcome is that of a row if what is known of it counts as expected.
func (b Baseline) outcome(row Row) Outcome {
	if row.Outcome != Unexpected && row.Outcome != Unknown {
		return row.Outcome
	}
	outcome := Expected
	for _, f := range findings(row) {
		switch {
		case slices.Contains(b.Findings, f):
		case f.Got == checker.Unknown || f.Got == checker.Disagreement:
			outcome = worse(outcome, Unknown)
		default:
			outcome = Unexpected
		}
	}
	return outcome
}

// knows reports whether a row has findings, all of them known.
func (b Baseline) knows(row Row) bool {
	return (row.Outcome == Unexpected || row.Outcome == Unknown) && b.outcome(row) == Expected
}

// Gone are the known findings that r looked for and did not find.
func (b Baseline) Gone(r Results) []Known {
	looked, found := r.lookedFor()
	return slices.DeleteFunc(slices.Clone(b.Findings), func(k Known) bool { return !looked(k) || slices.Contains(found, k) })
}

// lookedFor says what r could have found, and what it found. A run that ended before it could
// be judged has not looked for any property.
func (r Results) lookedFor() (looked func(Known) bool, found []Known) {
	type of struct{ scenario, lock, guard, remedy string }
	judged := map[of]bool{}
	for _, row := range r.Rows {
		if len(row.Judged) > 0 {
			judged[of{row.Scenario, row.Lock, row.Guard, row.Remedy}] = true
		}
		found = append(found, findings(row)...)
	}
	searched, shown := r.searched()
	found = append(found, shown...)
	return func(k Known) bool {
		decides := len(r.FailOn) == 0 || k.Property == unjudged || slices.Contains(r.FailOn, k.Property)
		if k.ID == exploredID {
			return decides && searched(k)
		}
		return decides && judged[of{k.Scenario, k.Lock, k.Guard, k.Remedy}]
	}, found
}

// Accept is b with what r found in the place of what r looked for. What it did not look for
// stays as it is.
func (b Baseline) Accept(r Results) Baseline {
	looked, found := r.lookedFor()
	for _, k := range b.Findings {
		if !looked(k) {
			found = append(found, k)
		}
	}
	slices.SortFunc(found, func(a, b Known) int {
		return cmp.Or(scenarios.ByNumber(a.ID, b.ID), cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Lock, b.Lock),
			cmp.Compare(a.Guard, b.Guard), cmp.Compare(a.Remedy, b.Remedy), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Got, b.Got))
	})
	found = slices.Compact(found)
	if found == nil {
		found = []Known{}
	}
	return Baseline{Schema: schema, Findings: found}
}

// Marshal is the JSON of b, one finding per line, so that a change of it reads well in a diff.
func (b Baseline) Marshal() ([]byte, error) {
	out := []byte(fmt.Sprintf("{\n  \"schema\": %d,\n  \"findings\": [", b.Schema))
	for i, k := range b.Findings {
		line, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, "\n    "...), line...)
	}
	if len(b.Findings) > 0 {
		out = append(out, "\n  "...)
	}
	return append(out, "]\n}\n"...), nil
}
