package serve

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// The most characters that a page shows of a name and of a story.
const (
	longestName  = 200
	longestStory = 3000
)

// clean makes a string from outside harmless and short.
func clean(s string, most int) string { return report.Brief(s, most) }

func functions() template.FuncMap {
	return template.FuncMap{
		"word":    word,
		"tone":    tone,
		"label":   report.Label,
		"spaced":  func(s string) string { return strings.ReplaceAll(s, "-", " ") },
		"column":  column,
		"story":   func(s string) string { return clean(strings.Join(strings.Fields(s), " "), longestStory) },
		"name":    func(s string) string { return clean(s, longestName) },
		"bytes":   words.Bytes,
		"count":   words.Count,
		"clock":   clock,
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"seconds": words.Instant,
		"who":     histories.WorkerName,
		"tell":    tell,
	}
}

// word is a verdict or an outcome as reports print it.
func word(v string) string {
	switch v {
	case "":
		return "not judged"
	case checker.Fail.String():
		return "FAIL"
	case checker.NotApplicable.String():
		return "n/a"
	case checker.Disagreement.String():
		return "ERROR"
	case checker.AsExpected.String():
		return "as expected"
	case checker.Unexpected.String():
		return "NOT as expected"
	}
	return v
}

// tone is the class of a verdict or an outcome in the style sheet. It only repeats the word.
func tone(v string) string {
	switch v {
	case checker.Pass.String(), checker.AsExpected.String():
		return "good"
	case checker.Fail.String(), checker.Disagreement.String(), checker.Unexpected.String():
		return "bad"
	case checker.Unknown.String():
		return "doubt"
	}
	return "quiet"
}

// A head is the head of a column that the list can be sorted by.
type head struct {
	Label, URL string
	Now        bool // it is
}

func column(l listing, name, label string) head {
	return head{Label: label, URL: l.Sorted(name), Now: l.Sort == name}
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// tell is an event in one line, without its time and its client.
func tell(e histories.Event) string {
	end := map[histories.Type]string{histories.Invoke: "begins", histories.OK: "ok", histories.Fail: "refused", histories.Info: "outcome unknown"}[e.Type]
	if e.Single() {
		end = ""
	}
	parts := []string{strings.TrimSpace(string(e.F) + " " + e.Key + " " + e.Node), end}
	for _, x := range []struct {
		name string
		n    int64
	}{{"token", e.Token}, {"version", e.Version}} {
		if x.n != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", x.name, x.n))
		}
	}
	if e.Deadline > 0 {
		parts = append(parts, "until "+words.Instant(e.Deadline))
	}
	if e.Value != "" {
		parts = append(parts, "value "+e.Value)
	}
	if e.Err != "" {
		parts = append(parts, e.Err)
	}
	return clean(strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", "), 2*longestName)
}
