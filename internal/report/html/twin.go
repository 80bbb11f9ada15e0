package html

import (
	"html/template"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/picture"
	"github.com/lockbench/lockbench/internal/words"
)

// anomaly is one that the run shows, by its name.
type anomaly struct{ Code, Name, Definition string }

// twin is the run of another lock under the same schedule, beside the run of the page.
type twin struct {
	Lock    string
	Kept    string // what it keeps that the run breaks
	Broken  string // what it breaks, too
	Parting string // where they part, in a sentence
	Sides   []twinSide
	Picture template.HTML
	Replay  string
}

// twinSide are the rows of one of the two runs around the event at which they part.
type twinSide struct {
	Lock string
	Ends bool // its history ends there
	Rows []twinRow
}

type twinRow struct {
	report.Row
	Times string
	Parts bool // it is the one at which they part
}

// beside draws the twin of a run, if it has one.
func (p *page) beside(r report.Run) error {
	if r.Twin == nil {
		return nil
	}
	other := *r.Twin
	other.Language = r.Language
	t := twin{Lock: report.Show(r.Twin.Lock), Replay: report.Harmless(r.Twin.Command)}
	broken := func(of report.Run, except []checker.Property) (all []checker.Property) {
		for _, res := range of.Results {
			if res.Verdict == checker.Fail && !slices.Contains(except, res.Property) {
				all = append(all, res.Property)
			}
		}
		return all
	}
	theirs := broken(*r.Twin, nil)
	t.Kept, t.Broken = p.labels(broken(r, theirs)), p.labels(theirs)
	parting, parts := report.Part(r, *r.Twin)
	if parts {
		t.Parting = report.PartingText(r, parting)
		for _, side := range []struct {
			run   report.Run
			event int
		}{{r, parting.Event}, {other, parting.Twin}} {
			rows, at := report.Around(side.run, side.event)
			s := twinSide{Lock: report.Show(side.run.Lock), Ends: side.event == report.None}
			for i, row := range rows {
				row.Who = p.in.Say(row.Who)
				s.Rows = append(s.Rows, twinRow{row, words.Instant(row.At), i == at})
			}
			t.Sides = append(t.Sides, s)
		}
	} else {
		t.Parting = p.in.Say("They do not part: in both the same clients did the same, and it ended the same.")
	}
	var b strings.Builder
	err := picture.SVG(&b, other)
	t.Picture = template.HTML(b.String())
	p.Twin = &t
	return err
}

// labels names properties in a list.
func (p *page) labels(all []checker.Property) string { return p.in.List(p.in.Each(report.Labels(all))) }

// named are the anomalies that a run shows, each once.
func named(r report.Run) (all []anomaly) {
	for _, a := range report.Anomalies(r) {
		all = append(all, anomaly{a.Code, a.Name, a.Definition})
	}
	return all
}
