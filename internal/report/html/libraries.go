package html

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
)

//go:embed libraries.tmpl
var libraries string

// Libraries is what a page shows of real libraries: which shows which named anomaly.
type Libraries struct {
	Title, What string
	Conditions  []string // what was played
	Columns     []LibraryColumn
	Rows        []Library
	States      []OverviewState
	Unseen      []string // anomalies
	Replay      string   // the commands that make it again
}

// LibraryColumn is an anomaly.
type LibraryColumn struct{ Code, Name, Definition string }

// Library is one library in one version: its row, and what is told of it below the table.
type Library struct {
	ID, Name, Title, Language, Version, System string // the ID is unique
	Problem                                    string // why it was not played; what follows is empty then
	Cells                                      []LibraryCell
	Played, Promises, Keeps, Safely            string
	Findings                                   []LibraryFinding
	Remarks                                    []string
}

// LibraryCell is what is said of a library and an anomaly. Without an Href there is nothing below that it leads to.
type LibraryCell struct{ Class, Word, Title, Href string }

// LibraryFinding is what a library shows. What is empty is not known.
type LibraryFinding struct {
	ID, Code, Name, Definition string
	Story, Command, Schedule   string
	Wire                       []string
	Script, Saw, Failed        string // a direct script, and what it saw or why it saw nothing
	Upstream                   string // an address
}

// WriteLibraries writes the page of real libraries. It needs neither a network nor a script. The same libraries give the same bytes. An error is w's.
func WriteLibraries(w io.Writer, l Libraries) error {
	t, err := template.New("libraries").Parse(libraries)
	if err != nil {
		return fmt.Errorf("the template of the page of libraries is wrong: %w", err)
	}
	return t.Execute(w, struct {
		Libraries
		Policy string
		Style  template.CSS
	}{l, Policy(), template.CSS(style)})
}
