package html

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
)

//go:embed overview.tmpl
var overview string

// Overview is what a page shows of all that a search has found of a lock.
type Overview struct {
	Lock     string
	Verdict  string
	Broken   bool
	Head     []string // what was explored
	Columns  []OverviewColumn
	Rows     []OverviewRow
	States   []OverviewState
	NotTried []string // kinds of deviations
	Findings []OverviewFinding
}

// OverviewColumn is a kind of deviation, and how many schedules were played that have it.
type OverviewColumn struct {
	Name   string
	Played int
}

// OverviewRow is a property, with a cell for each column.
type OverviewRow struct {
	Property, Definition string
	Cells                []OverviewCell
}

// OverviewCell is what is known of a property under a kind of deviation, and links to the pages of what breaks it.
type OverviewCell struct {
	Class, Word  string
	Held, Broken int // schedules
	Links        []File
}

// OverviewState is what a cell may say.
type OverviewState struct{ Class, Word, Means string }

// OverviewFinding is a schedule that breaks the lock. What is empty is not known.
type OverviewFinding struct {
	Code, Name, Definition string // of the anomaly that it shows
	Broken, Title, KeptBy  string
	Schedule               string
	File, Page             string // beside this page
}

// WriteOverview writes the page of a search. The same search gives the same bytes. An error is w's.
func WriteOverview(w io.Writer, o Overview) error {
	t, err := template.New("overview").Parse(overview)
	if err != nil {
		return fmt.Errorf("the template of the overview is wrong: %w", err)
	}
	return t.Execute(w, struct {
		Overview
		Policy string
		Style  template.CSS
	}{o, Policy(), template.CSS(style)})
}
