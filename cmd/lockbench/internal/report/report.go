// Package report tells people and machines what a run showed. It draws; it judges
// nothing.
package report

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Run is everything that a report tells of one run.
type Run struct {
	histories.Meta    `json:"run"`
	checker.Judgement `json:"results"`

	Dir       string               `json:"dir,omitempty"`   // where the run is kept
	Page      string               `json:"page,omitempty"`  // the file that draws it
	Error     string               `json:"error,omitempty"` // of the harness, or why the run does not apply
	Unfit     bool                 `json:"-"`               // Error says that the run does not apply
	Events    []histories.Event    `json:"-"`
	Exchanges []histories.Exchange `json:"-"`
	Samples   []histories.Sample   `json:"-"`
}
