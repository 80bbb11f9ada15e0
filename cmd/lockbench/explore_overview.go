package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/words"
)

// state is how a state of a cell is told: by a letter, in a word, and in a sentence.
type state struct {
	explore.State
	letter, word, means string
	tone                report.Tone
}

func states() []state {
	return []state{
		{explore.Broken, "B", "broken", "the lock breaks it, and others of its class do not", report.Bad},
		{explore.Class, "w", "class", "it is broken as others of its class break it, too, or any lock with leases", report.Doubtful},
		{explore.Unmeasured, "?", "unmeasured", "it is broken, and no other lock can play the program", report.Doubtful},
		{explore.Clean, ".", "clean", "it was put to the test, and always held", report.Good},
		{explore.Untested, "-", "untested", "schedules were played, and none put it to the test", report.Quiet},
	}
}

// stateOf is how a state is told.
func stateOf(s explore.State) state {
	all := states()
	return all[slices.IndexFunc(all, func(o state) bool { return o.State == s })]
}

// tellOverview tells what was found of each property under each kind of deviation.
func tellOverview(o explore.Overview, style report.Style, stdout io.Writer) error {
	if len(o.Rows) == 0 {
		return nil
	}
	p := report.NewPage(style)
	p.Line()
	const bar = "│"
	wide := 0
	for _, r := range o.Rows {
		wide = max(wide, len(report.Label(r.Property)))
	}
	margin := strings.Repeat(" ", wide+2)
	for i, name := range o.Columns {
		p.Line(margin, strings.Repeat(bar+" ", i), name, p.Paint(report.Quiet, fmt.Sprintf("  %s", words.Count(o.Played[i], "schedule"))))
	}
	used := map[explore.State]bool{}
	for _, r := range o.Rows {
		line := []string{p.Cell(report.Label(r.Property), wide+2, report.Plain)}
		for _, c := range r.Cells {
			s := stateOf(c.State)
			used[c.State] = true
			line = append(line, p.Cell(s.letter, 2, s.tone))
		}
		p.Line(line...)
	}
	p.Line()
	for _, s := range states() {
		if used[s.State] {
			p.Para(fmt.Sprintf("  %s  %s: ", s.letter, s.word), s.means, report.Plain)
		}
	}
	if len(o.NotTried) > 0 {
		p.Para("  not tried: ", strings.Join(o.NotTried, "; "), report.Plain)
	}
	_, err := p.WriteTo(stdout)
	return err
}

// writeIndex writes the page of all that was found, beside the schedules.
func (s *search) writeIndex(r explore.Record, all []told) (name string, err error) {
	if s.out == noStore {
		return "", nil
	}
	var head bytes.Buffer
	tellHead(r, &head)
	o := r.Overview()
	text, _ := verdict(r, len(all))
	page := html.Overview{Lock: r.Explored, Head: strings.Split(strings.TrimSpace(head.String()), "\n"), Verdict: text, Broken: len(r.Findings) > 0, NotTried: o.NotTried}
	for i, name := range o.Columns {
		page.Columns = append(page.Columns, html.OverviewColumn{Name: name, Played: o.Played[i]})
	}
	for _, one := range states() {
		page.States = append(page.States, html.OverviewState{Class: string(one.State), Word: one.word, Means: one.means})
	}
	for _, row := range o.Rows {
		of := html.OverviewRow{Property: report.Label(row.Property), Definition: row.Property.Definition()}
		for _, c := range row.Cells {
			cell := html.OverviewCell{Class: string(c.State), Word: stateOf(c.State).word, Held: c.Held, Broken: c.Broken}
			for n, t := range all {
				if t.page != "" && slices.ContainsFunc(c.Findings, func(i int) bool { return r.Findings[i].Shows(t.place) }) {
					cell.Links = append(cell.Links, html.File{Name: fmt.Sprint(n + 1), Href: filepath.Base(t.page)})
				}
			}
			of.Cells = append(of.Cells, cell)
		}
		page.Rows = append(page.Rows, of)
	}
	for _, t := range all {
		one := html.OverviewFinding{Broken: strings.Join(report.Labels(t.Broken), ", "), Title: t.Title(), KeptBy: strings.Join(t.KeptBy, ", "), Schedule: t.text}
		if a, ok := anomalies.Find(t.Anomaly); ok {
			one.Code, one.Name, one.Definition = a.Code, a.Name, a.Definition
		}
		if t.file != "" {
			one.File = filepath.Base(t.file)
		}
		if t.page != "" {
			one.Page = filepath.Base(t.page)
		}
		page.Findings = append(page.Findings, one)
	}
	var b bytes.Buffer
	if err := html.WriteOverview(&b, page); err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.dir(), 0o755); err != nil {
		return "", fmt.Errorf("cannot keep the overview: %w", err)
	}
	name = filepath.Join(s.dir(), indexFile)
	return name, gate.WriteFile(name, b.Bytes())
}
