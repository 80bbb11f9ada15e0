package locktest

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/scenarios"
)

const (
	// mostRows is how many lines of a run are told. The page has all.
	mostRows = 30
	// around is how many of them come before and after those that the cause names, of a longer run.
	around = 4
	// wide is how wide a line may become by what crossed the wire.
	wide = 110
)

// failure tells what the lock broke: the cause first, then what happened, then how to see it again.
func (r *test) failure(t *testing.T, s scenarios.Scenario, res harness.Result, v verdict) string {
	t.Helper()
	run := drawn(res, s.Text)
	c := cause(res, v.own)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", report.CauseText(c))
	fmt.Fprintf(&b, "breaks %s under %s (%s)", strings.Join(report.Labels(v.own), ", "), strings.TrimSpace(s.ID+" "+s.Name), s.Title)
	if len(v.keptBy) > 0 {
		fmt.Fprintf(&b, "; kept there by %s", some(v.keptBy))
	}
	b.WriteString("\n")
	if before := r.told(c, t.Name()); before == "" || testing.Verbose() {
		for _, line := range timeline(run, c.Events) {
			b.WriteString(line + "\n")
		}
	} else {
		fmt.Fprintf(&b, "  (the same kind of cause as in %s, where what happened is told; -v tells it here, too)\n", before)
	}
	fmt.Fprintf(&b, "replay: %s", command(t))
	if dir, err := keep(t, run, s); err != nil {
		fmt.Fprintf(&b, "\nwhat was recorded could not be kept: %v", err)
	} else {
		fmt.Fprintf(&b, "\nhistory, page and schedule: %s", dir)
	}
	return b.String()
}

// told returns the test that has told of a cause of the same kind before, and otherwise notes this one.
func (r *test) told(c checker.Cause, name string) (before string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before = r.causes[c.Kind]; before == "" || !c.Derived() {
		r.causes[c.Kind] = name
		return ""
	}
	return before
}

// some are the first names of a list, and how many there are.
func some(names []string) string {
	const few = 2
	if len(names) <= few+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:few], ", "), words.Count(len(names)-few, "other lock"))
}

// timeline is what happened, a line for each row. Of a long run it is what lies around the events of the cause.
func timeline(run report.Run, events []int) (lines []string) {
	rows := report.NewTimeline(run).Rows(run.Events)
	if len(rows) > mostRows && len(events) > 0 {
		first, last := 0, len(rows)
		for i, row := range rows {
			if row.First != report.None && row.Last < events[0] {
				first = max(0, i+1-around)
			}
			if row.First != report.None && row.First > events[len(events)-1] && last == len(rows) {
				last = min(len(rows), i+around)
			}
		}
		rows = rows[first:last]
	}
	cut := len(rows) - mostRows
	for _, row := range rows[:min(len(rows), mostRows)] {
		line := fmt.Sprintf("  %7s  %-8s %s", words.Instant(row.At), row.Who, row.What)
		for _, wire := range row.Wire {
			if utf8.RuneCountInString(line)+utf8.RuneCountInString(wire)+2 > wide {
				break
			}
			line += "  " + wire
		}
		lines = append(lines, line)
	}
	if cut > 0 {
		lines = append(lines, fmt.Sprintf("  ... and %s", words.Count(cut, "more line")))
	}
	return lines
}
