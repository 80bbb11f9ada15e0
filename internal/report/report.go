// Package report tells people and machines what a run showed. It draws; it judges
// nothing.
package report

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/story"
)

// Run is everything that a report tells of one run.
type Run struct {
	histories.Meta    `json:"run"`
	checker.Judgement `json:"results"`

	// Language is the one that a page tells the run in, as package html sets it. Other reports are in English.
	Language language.Language `json:"-"`

	Dir       string               `json:"dir,omitempty"`   // where the run is kept
	Page      string               `json:"page,omitempty"`  // the file that draws it
	Error     string               `json:"error,omitempty"` // of the harness, or why the run does not apply
	Unfit     bool                 `json:"-"`               // Error says that the run does not apply
	Events    []histories.Event    `json:"-"`
	Total     int                  `json:"-"` // how many events the history has, if Events is a part of it; 0: Events are all
	Exchanges []histories.Exchange `json:"-"`
	Samples   []histories.Sample   `json:"-"`

	Schedule string `json:"-"` // the text of what was played, if it was played from a file
	Twin     *Run   `json:"-"` // the same with a lock that keeps what this one breaks; nil: it was not played
	Gates    []Gate `json:"-"` // what waited for what, in the order of time

	told *story.Story // what happened, if it has been found
}

// Story is what happened in the run.
func (r Run) Story() *story.Story { return r.Told().told }

// Told is the run with its story, so that whatever it is handed to need not find it again.
func (r Run) Told() Run {
	if r.told == nil || !r.told.Is(r.Events, r.Exchanges) {
		r.told = story.Of(r.Events, r.Exchanges)
	}
	return r
}

// A Gate is something that waited for something else, as the schedule says. A place is the name of a client or of a server, or empty: it
// is among the faults.
type Gate struct {
	From      time.Duration `json:"from"`
	To        time.Duration `json:"to"`
	At        string        `json:"at,omitempty"`   // where it was waited for
	Goes      string        `json:"goes,omitempty"` // where what waited is
	Event     int           `json:"event"`          // that was waited for
	Condition string        `json:"condition"`      // as the schedule has it, such as "wait held A"
	Rule      string        `json:"rule,omitempty"` // that met the command that was waited for, as the schedule has it; empty: no rule did
}

// Recorded is how many events the history has.
func (r Run) Recorded() int { return max(r.Total, len(r.Events)) }

// Reproduced reports whether some property was to break, and whether each of those that were did.
func (r Run) Reproduced() (wanted, shown bool) {
	shown = true
	for _, e := range r.Expected {
		if e.Want == checker.Fail {
			wanted, shown = true, shown && e.Got == checker.Fail
		}
	}
	return wanted, wanted && shown
}

// InPart reports whether Events is a part of the history.
func (r Run) InPart() bool { return len(r.Events) < r.Recorded() }
