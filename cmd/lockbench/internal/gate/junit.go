package gate

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/report"
)

// JUnit writes r as JUnit's XML: a suite for each scenario, a case for each run. What is
// unknown is a failure, since it did not pass; what was not played is skipped, with the
// reason.
func (r Results) JUnit(w io.Writer, known Baseline) error {
	var suites []report.Suite
	told := head(r.faults(known))
	for _, g := range r.groups(known) {
		suite := report.Suite{Name: g.id + " " + g.name}
		for _, row := range g.rows {
			suite.Cases = append(suite.Cases, row.junit(r.Backend, told, known))
		}
		for _, gap := range g.gaps {
			name := gap.who()
			if name == "" {
				name = "all locks"
			}
			suite.Cases = append(suite.Cases, report.Case{Name: name, Class: class(r.Backend, g.name), Skipped: &report.Message{Text: report.Prose(gap.Reason)}})
		}
		suites = append(suites, suite)
	}
	if len(r.Explored) > 0 {
		suites = append(suites, r.exploredSuite(known))
	}
	return report.WriteJUnit(w, "lockbench gate", r.Took, suites)
}

// junit is a run as a case. head is what all failing runs of a user's lock have in common.
func (r Row) junit(backend, head string, known Baseline) report.Case {
	c := report.Case{Name: fmt.Sprintf("%s, %s, seed %d", r.who(), r.Role, r.Seed), Class: class(backend, r.Scenario), Took: r.Took}
	message := &report.Message{Text: report.Prose(what(r)), Body: strings.Join([]string{report.Prose(story(r)), r.Command}, "\n")}
	if r.Role == Own && known.outcome(r) == Unexpected {
		f := widest([]Row{r})
		message.Text, message.Body = report.Prose(f.sentence()), strings.Join([]string{report.Prose(what(r)), report.Prose(head), r.Command}, "\n")
	}
	switch known.outcome(r) {
	case Expected, Unavoidable:
		switch {
		case known.knows(r):
			c.Out = "known: " + report.Prose(what(r))
		case len(r.Unavoidable()) > 0:
			c.Out = "no lock of its class keeps " + strings.Join(properties(r.Unavoidable()), ", ")
		}
	case Unexpected, Unknown:
		message.Type, c.Failure = string(known.outcome(r)), message
	case Failed:
		message.Type, c.Error = string(Failed), message
	default:
		c.Skipped = &report.Message{Text: report.Prose(r.Reason)}
	}
	return c
}

func class(backend, scenario string) string { return "lockbench." + backend + "." + scenario }
