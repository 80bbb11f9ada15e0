package html_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
)

// TestTwin: the run of another lock stands beside the run, with the event at which they part.
func TestTwin(t *testing.T) {
	r, twin := load(t, "failover"), load(t, "failover-redlock")
	if strings.Contains(write(t, r, options()), `id="twin"`) {
		t.Error("a run without a twin has one on its page")
	}
	r.Schedule, r.Twin = "lockbench schedule 1\ntitle <b>", &twin
	r.Causes = []checker.Cause{{Kind: checker.ReleasedAnothers, Properties: []checker.Property{checker.Ownership}, Sentence: "It did.", Anomaly: "A01"}}
	page := write(t, r, options())
	for _, want := range []string{
		`id="twin"`, "The same schedule with redlock", "parts here", "title &lt;b&gt;", "foreign release</dt>",
		"redlock keeps what is broken here: <b>mutual exclusion, ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n := strings.Count(page, "parts here"); n != 2 {
		t.Errorf("the event at which they part is marked %d times, want once in each run", n)
	}
	same := r
	r.Twin = &same
	if page := write(t, r, options()); !strings.Contains(page, "They do not part") || strings.Contains(page, "parts here") {
		t.Error("a run parts from itself")
	}
	r.Twin = &report.Run{Meta: histories.Meta{Lock: "none"}}
	if page := write(t, r, options()); !strings.Contains(page, "The history has ended") {
		t.Error("a twin without events has no place at which it parts")
	}
}

// TestOverview: the page of a search has its cells with links, runs no script, and escapes what it shows.
func TestOverview(t *testing.T) {
	var b strings.Builder
	err := html.WriteOverview(&b, html.Overview{
		Lock: "lock<", Broken: true, NotTried: []string{"delay", "down, a majority"},
		Columns: []html.OverviewColumn{{Name: "pause", Played: 12}},
		Rows: []html.OverviewRow{{Property: "ownership", Definition: `"quoted"`, Cells: []html.OverviewCell{
			{Class: "broken", Word: "broken", Held: 3, Broken: 9, Links: []html.File{{Name: "1", Href: "1.html"}}},
		}}},
		Findings: []html.OverviewFinding{{Code: "A01", Name: "foreign release", Broken: "ownership", Title: "a<b", Schedule: "at A <GET>", File: "1.schedule", Page: "1.html"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"lock&lt;", `<td class="broken" title="held in 3 schedules, broken in 9">broken <a href="1.html"`, "at A &lt;GET&gt;", "delay; down, a majority.", "default-src &#39;none&#39;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "http:") || strings.Contains(page, "https:") {
		t.Error("the page has a script, or needs a network")
	}
}
