package gate

import (
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// runsText tells a line for each run.
func (r Results) runsText(page *report.Page, known Baseline) {
	page.Line("Run by run:")
	for _, row := range r.Rows {
		word, tone := (&group{outcome: known.outcome(row), rows: []Row{row}}).word(known)
		page.Para(" "+page.Cell(word, 7, tone)+"  "+page.Cell(row.ID, 3, report.Plain)+"  ", row.key()+": "+r.came(row), report.Plain)
	}
	page.Line()
}

// came says what a run came to, and in real time how long it took.
func (r Results) came(row Row) string {
	text, violated := what(row), strings.Join(labels(row.Violated()), ", ")
	switch {
	case text != "":
	case violated == "":
		text = "held"
	case row.Role == Own:
		text = "violated, as by every lock of its class: " + violated
	default:
		text = "violated, as expected: " + violated
	}
	if !histories.VirtualTime(r.Backend) {
		text += ", in " + words.Rounded(row.Took)
	}
	return text
}
