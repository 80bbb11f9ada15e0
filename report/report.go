// Package report tells people and machines what a run showed. It draws; it judges
// nothing.
package report

import (
	"encoding/json"
	"io"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Run is everything that a report tells of one run.
type Run struct {
	Meta      histories.Meta       `json:"run"`
	Report    checker.Report       `json:"report"`
	Outcome   checker.Outcome      `json:"outcome"`
	Expected  []checker.Judged     `json:"expected"`        // of every property
	Survivors []string             `json:"survivors"`       // commands of the locks that survive the same steps
	Note      string               `json:"note,omitempty"`  // what the run shows
	Why       string               `json:"why,omitempty"`   // why the broken lock breaks
	Dir       string               `json:"dir,omitempty"`   // where the run is kept
	Error     string               `json:"error,omitempty"` // of the harness
	Events    []histories.Event    `json:"-"`
	Exchanges []histories.Exchange `json:"-"`
}

// JSON writes r as one indented JSON object.
func JSON(w io.Writer, r Run) error {
	// A reader of JSON finds lists, also if they are empty.
	if r.Expected == nil {
		r.Expected = []checker.Judged{}
	}
	if r.Survivors == nil {
		r.Survivors = []string{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
