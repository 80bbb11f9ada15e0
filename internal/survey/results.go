package survey

import (
	"bytes"
	_ "embed" // what was found last
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/internal/anomalies"
)

// Schema is the version of the form of Results.
const Schema = 1

// Results are what was found of libraries: all that the pages tell. docs/schema/libraries.schema.json describes their JSON.
type Results struct {
	Schema    int       `json:"schema"`
	Libraries []Finding `json:"libraries"`
}

// Finding is what was found of a library in one version, on one system.
type Finding struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	System   string `json:"system"`           // that has this version, such as Debian 12
	Version  string `json:"version"`          // empty: it is not known
	Server   string `json:"server,omitempty"` // the version of redis-server; empty: it was played in virtual time, without one
	Date     string `json:"date"`             // the day of the runs
	Promises string `json:"promises"`
	Safely   string `json:"safely"`
	// Untimed is what a direct script saw that took the lock without saying for how long. None: the library takes no such call.
	Untimed *Confirmation `json:"untimed,omitempty"`
	Problem string        `json:"problem,omitempty"` // why it was not played; nothing more is known then
	// Of so many pitfalls that it was put through, so many have something to say of it; so many of these it keeps, and so many more are
	// kept by no lock of its class.
	Pitfalls   int `json:"pitfalls"`
	Applicable int `json:"applicable"`
	Kept       int `json:"kept"`
	Class      int `json:"class"`
	// Cells have what is said of each anomaly, by their codes, and Nameless what it breaks that has no name.
	Cells    []Cell `json:"cells"`
	Nameless []Cell `json:"nameless"`
	// Undecided are the pitfalls that came to no verdict, and why.
	Undecided []Undecided `json:"undecided"`
}

// Verdict is what is said of a library and an anomaly.
type Verdict string

// The verdicts. Only the first accuses.
const (
	Shows    Verdict = "shows"
	Declared Verdict = "declared"
	Class    Verdict = "class"
	Free     Verdict = "free"
	Unclear  Verdict = "unclear" // it was asked, and what came of it has no such name, was seen once only, or is unknown
	Unasked  Verdict = "unasked" // it cannot be asked
)

// Cell is what was found of a library and an anomaly.
type Cell struct {
	Anomaly  string   `json:"anomaly,omitempty"` // the code; empty: it has no name
	Verdict  Verdict  `json:"verdict"`
	Pitfalls []string `json:"pitfalls"`        // by which it is known; the command plays the first
	Story    string   `json:"story,omitempty"` // what was seen, what is documented, or why nothing can be said
	Command  string   `json:"command,omitempty"`
	Schedule string   `json:"schedule,omitempty"` // what the command plays
	Wire     []string `json:"wire"`               // the last two of the commands that prove it
	// Confirmed is what a direct script saw. None: there is no script.
	Confirmed *Confirmation `json:"confirmed,omitempty"`
	Upstream  string        `json:"upstream,omitempty"` // a thread of the library's own project about the same
}

// Undecided is a pitfall that came to no verdict.
type Undecided struct {
	Pitfall string `json:"pitfall"`
	Why     string `json:"why"`
}

//go:embed libraries.json
var found []byte

// Found returns the results that are kept in the repository: those of make libraries and make libraries-trixie.
func Found() (Results, error) { return ParseResults(found) }

// ParseResults reads results from their JSON. An error says what is wrong with it.
func ParseResults(data []byte) (r Results, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Results{}, fmt.Errorf("want the results of a survey of libraries, as make libraries writes them: %w", err)
	}
	if r.Schema != Schema {
		return Results{}, fmt.Errorf("results of a survey have schema %d, this lockbench reads %d", r.Schema, Schema)
	}
	return r, nil
}

// JSON is the file of results.
func (r Results) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(r)
	return b.Bytes(), err
}

// with are the results with newer findings: each takes the place of the one of the same library on the same system, or stands after
// the others of its library.
func (r Results) with(newer []Finding) Results {
	all := slices.Clone(r.Libraries)
	for _, f := range newer {
		if i := slices.IndexFunc(all, func(o Finding) bool { return o.Name == f.Name && o.System == f.System }); i >= 0 {
			all[i] = f
			continue
		}
		at := len(all)
		for i, o := range all {
			if o.Name == f.Name {
				at = i + 1
			}
		}
		all = slices.Insert(all, at, f)
	}
	return Results{Schema: Schema, Libraries: all}
}

// modules is the system of libraries that this project links.
const modules = "Go modules"

// Occasion is where and when libraries were played.
type Occasion struct {
	System, Server string // such as Debian 12, and the version of redis-server
	Date           string // the day
}

// After returns the results with what came of libraries on an occasion: each takes the place of what was found of it on the same system before.
// What any library shows the others were asked, too.
func (r Results) After(all []Played, shown Shown, on Occasion) Results {
	shown.found(r)
	shown.played(all)
	var found []Finding
	for _, p := range all {
		f := p.Finding(shown)
		if f.System, f.Server, f.Date = on.System, on.Server, on.Date; p.Worker == "" { // it is a module of this project, and needs no server
			f.System, f.Server = modules, ""
		}
		found = append(found, f)
	}
	return r.with(found)
}

// Columns returns the anomalies of which something can be said.
func (r Results) Columns() []anomalies.Anomaly {
	return slices.DeleteFunc(anomalies.All(), func(a anomalies.Anomaly) bool {
		return !slices.ContainsFunc(r.Libraries, func(f Finding) bool { return f.Problem == "" && f.Cell(a.Code).Verdict != Unasked })
	})
}

// Unseen returns the anomalies that no library was seen to show.
func (r Results) Unseen() []anomalies.Anomaly {
	return slices.DeleteFunc(anomalies.All(), func(a anomalies.Anomaly) bool {
		return slices.ContainsFunc(r.Libraries, func(f Finding) bool { return f.Cell(a.Code).Verdict == Shows })
	})
}

// Title is the library and, if it is not the only one of its name in r, the system that has it.
func (r Results) Title(f Finding) string {
	if slices.ContainsFunc(r.Libraries, func(o Finding) bool { return o.Name == f.Name && o.System != f.System }) {
		return f.Name + ", " + f.System
	}
	return f.Name
}

// Cell returns what is said of an anomaly. Of one that nobody knew then nothing was asked.
func (f Finding) Cell(code string) Cell {
	if i := slices.IndexFunc(f.Cells, func(c Cell) bool { return c.Anomaly == code }); i >= 0 {
		return f.Cells[i]
	}
	return Cell{Anomaly: code, Verdict: Unasked}
}
