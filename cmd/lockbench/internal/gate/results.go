package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/scenarios"
)

// schema is the version of the JSON of Results.
const schema = 1

// Results are what the runs of a plan showed.
type Results struct {
	Schema  int                `json:"schema"`
	Version string             `json:"version"` // of lockbench
	Backend string             `json:"backend"`
	Server  string             `json:"server,omitempty"` // name and version of the servers, if they are real
	Seed    uint64             `json:"seed"`
	Runs    int                `json:"runs"` // of each case
	Only    []string           `json:"only,omitempty"`
	Again   string             `json:"again,omitempty"` // the file with an earlier gate of which only runs were played that were not as expected
	FailOn  []checker.Property `json:"fail_on,omitempty"`
	// Lock and Worker are the user's own. Empty: the catalogue's locks were played.
	Lock   string   `json:"lock,omitempty"`
	Worker []string `json:"worker,omitempty"`
	// Class is that of Lock, in words.
	Class string `json:"class,omitempty"`
	Shard Shard  `json:"shard"`
	// Plan is the same for shards of the same plan.
	Plan    string        `json:"plan"`
	Planned int           `json:"planned"` // runs of all shards
	Share   int           `json:"share"`   // runs of this shard
	Took    time.Duration `json:"took"`
	Rows    []Row         `json:"rows"`
	Gaps    []Gap         `json:"gaps"`
	// Exploring is for how long schedules that nobody wrote were looked for besides, and Explored what came of it: of each lock, in each
	// shard. 0: they were not.
	Exploring time.Duration    `json:"exploring,omitempty"`
	Explored  []explore.Record `json:"explored,omitempty"`
	// Stalls says how often lockbench or the machine stood still so that a run was played again.
	// Zero: never.
	Stalls Stalls `json:"stalls,omitzero"`
	// Error is why not every run was done, or not everything was written. Of single runs their
	// rows tell it.
	Error string `json:"error,omitempty"`
}

func (p *Plan) results() Results {
	r := Results{
		Schema: schema, Version: p.opt.Version, Backend: p.opt.Backend.Name, Seed: p.opt.Seed, Runs: p.opt.Runs,
		Only: p.opt.Only, FailOn: p.opt.FailOn, Shard: p.opt.Shard, Exploring: p.opt.Exploring,
		Plan: p.print, Planned: p.planned, Share: len(p.items), Rows: []Row{}, Gaps: p.gaps,
	}
	if r.Gaps == nil {
		r.Gaps = []Gap{}
	}
	if p.opt.Again != nil {
		r.Again = p.opt.Again.File
	}
	if s := p.opt.Subject; s != nil {
		r.Lock, r.Worker, r.Class = s.Lock.Name, s.Worker, s.Lock.Class().String()
	}
	return r
}

// where is the backend, and which servers it had as far as that is known.
func (r Results) where() string {
	if r.Server == "" {
		return backend(r.Backend)
	}
	return r.Backend + " (" + r.Server + ")"
}

// Whole reports whether every run of the shard was done.
func (r Results) Whole() bool { return len(r.Rows) == r.Share }

// Outcome is what all runs came to, save what the baseline knows. Runs that were not done
// count for nothing; see Whole. If none says anything, the outcome is NotApplicable.
func (r Results) Outcome(known Baseline) Outcome {
	outcome := NotApplicable
	for _, row := range r.Rows {
		outcome = worse(outcome, known.outcome(row))
	}
	if r.breaks(known) {
		outcome = worse(outcome, Unexpected)
	}
	if outcome == Unavoidable {
		return Expected
	}
	return outcome
}

// group is a scenario with its runs and gaps.
type group struct {
	id, name string
	rows     []Row
	gaps     []Gap
	outcome  Outcome // of all rows, save what the baseline knows
}

// groups are the scenarios in the order of the catalogue.
func (r Results) groups(known Baseline) []*group {
	var groups []*group
	of := func(id, name string) *group {
		for _, g := range groups {
			if g.name == name {
				return g
			}
		}
		g := &group{id: id, name: name, outcome: NotApplicable}
		groups = append(groups, g)
		return g
	}
	for _, row := range r.Rows {
		g := of(row.ID, row.Scenario)
		g.rows, g.outcome = append(g.rows, row), worse(g.outcome, known.outcome(row))
	}
	for _, gap := range r.Gaps {
		g := of(gap.ID, gap.Scenario)
		g.gaps = append(g.gaps, gap)
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return scenarios.ByNumber(a.id, b.id) })
	return groups
}

// Marshal is the JSON of r, as Read takes it.
func (r Results) Marshal() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// Read reads the results that a gate wrote.
func Read(file string) (Results, error) {
	var r Results
	if err := readJSON(file, "the results of lockbench gate --json", &r); err != nil {
		return r, err
	}
	if r.Schema != schema {
		return r, fmt.Errorf(`%s: "schema" is %d, want %d: it is not of lockbench gate --json, or another version (%q) wrote it`, file, r.Schema, schema, r.Version)
	}
	return r, nil
}

func readJSON(file, what string, v any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w; want %s", file, err, what)
	}
	return nil
}

// Missing reports whether an error is that a file does not exist.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
