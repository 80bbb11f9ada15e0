package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/survey"
)

const librariesPage = "libraries.html"

func librariesFormats() []string { return []string{formatHTML, formatMarkdown, formatJSON} }

// ofLibraries writes what real libraries were seen to show: the results in a file or, without one, those that the program has.
func (f *reportFlags) ofLibraries(files []string, cmd *cobra.Command) error {
	if f.asIssue || cmd.Flags().Changed("lang") {
		return usage(errors.New("--libraries draws no run and writes English, and goes with neither --issue nor --lang"))
	}
	if err := oneOf("format", f.format, librariesFormats()); err != nil {
		return usage(err)
	}
	results, err := survey.Found()
	if len(files) > 0 {
		results, err = surveyIn(files[0])
	}
	if err != nil {
		return usage(err)
	}
	var page []byte
	switch f.format {
	case formatJSON:
		page, err = results.JSON()
	case formatMarkdown:
		page = []byte(results.Markdown())
	default:
		f.out = cmp.Or(f.out, librariesPage)
		var b bytes.Buffer
		err = html.WriteLibraries(&b, librariesOf(results))
		page = b.Bytes()
	}
	if err != nil {
		return failure(err)
	}
	return f.write(page, f.out, cmd.OutOrStdout())
}

// surveyIn reads the results in a file.
func surveyIn(file string) (survey.Results, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return survey.Results{}, err
	}
	r, err := survey.ParseResults(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return r, err
}

// librariesOf is the page of results.
func librariesOf(r survey.Results) html.Libraries {
	page := html.Libraries{
		Title:  "What real libraries show",
		What:   "Locks over Redis, unmodified and with their defaults, put through the pitfalls of lockbench. What a library is said to show was seen twice, and other locks that promise no more keep it.",
		Replay: "make libraries libraries-trixie\nlockbench report --libraries",
	}
	for _, a := range r.Columns() {
		page.Columns = append(page.Columns, html.LibraryColumn{Code: a.Code, Name: a.Name, Definition: a.Definition})
	}
	for _, s := range survey.AllSaid() {
		page.States = append(page.States, html.OverviewState{Class: s.Class, Word: s.Word, Means: s.Means})
	}
	for _, a := range r.Unseen() {
		page.Unseen = append(page.Unseen, a.String())
	}
	for i, f := range r.Libraries {
		page.Rows = append(page.Rows, libraryOf(fmt.Sprintf("library-%d", i+1), r, f))
		if on := fmt.Sprintf("%s, %s, %s", f.System, f.Where(), f.Date); !slices.Contains(page.Conditions, on) {
			page.Conditions = append(page.Conditions, on)
		}
	}
	return page
}

// libraryOf is what the page shows of a library.
func libraryOf(id string, r survey.Results, f survey.Finding) html.Library {
	l := html.Library{
		ID: id, Name: f.Name, Title: r.Title(f), Language: f.Language, Version: cmp.Or(f.Version, "?"), System: f.System, Problem: f.Problem,
		Played: f.Played(), Promises: f.Promises, Keeps: f.Keeps(), Safely: f.Safely,
	}
	if said := f.WithoutTime(); said != "" {
		l.Remarks = append(l.Remarks, said)
	}
	hrefs := map[string]string{}
	for i, c := range append(slices.Clone(f.Cells), f.Nameless...) {
		if c.Verdict == survey.Shows {
			one := findingOf(fmt.Sprintf("%s-%d", id, i+1), c)
			l.Findings, hrefs[c.Anomaly] = append(l.Findings, one), "#"+one.ID
		} else if remark := c.Remark(); remark != "" && !slices.Contains(l.Remarks, remark) {
			l.Remarks = append(l.Remarks, remark)
		}
	}
	for _, a := range r.Columns() {
		c := f.Cell(a.Code)
		said := c.Verdict.Said()
		l.Cells = append(l.Cells, html.LibraryCell{Class: said.Class, Word: said.Word, Title: strings.Join(c.Pitfalls, ", "), Href: hrefs[a.Code]})
	}
	for _, u := range f.Undecided {
		l.Remarks = append(l.Remarks, fmt.Sprintf("%s came to no verdict: %s.", u.Pitfall, u.Why))
	}
	return l
}

// findingOf is what the page shows of a cell that accuses.
func findingOf(id string, c survey.Cell) html.LibraryFinding {
	one := html.LibraryFinding{
		ID: id, Name: strings.Join(c.Pitfalls, ", "), Story: c.Story, Command: c.Command, Schedule: c.Schedule, Wire: c.Wire, Upstream: c.Upstream,
	}
	if a, ok := anomalies.Find(c.Anomaly); ok {
		one.Code, one.Name, one.Definition = a.Code, a.Name, a.Definition
	}
	if s := c.Confirmed; s != nil {
		one.Script, one.Saw, one.Failed = s.Script, s.Saw, s.Failed
		if s.Failed != "" {
			one.Saw = ""
		}
	}
	return one
}
