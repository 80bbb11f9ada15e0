package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A trial is a hand-made history and what one judge must say about it.
type trial struct {
	name    string
	history string
	options Options
	want    Verdict
	story   string   // a part of it
	witness []string // as cite names it; nil: not compared
}

// try runs Check on every trial and looks at one property.
func try(t *testing.T, property Property, trials []trial) {
	t.Helper()
	for _, c := range trials {
		t.Run(c.name, func(t *testing.T) {
			events := script(t, c.history)
			if c.options.Slack == 0 {
				c.options.Slack = 2 * time.Millisecond
			}
			report := Check(t.Context(), events, c.options)
			if len(report.HarnessErrors) > 0 {
				t.Fatalf("harness errors: %q", report.HarnessErrors)
			}
			got := report.Result(property)
			if got.Verdict != c.want || !strings.Contains(got.Story, c.story) {
				t.Errorf("verdict %v, want %v with %q\nstory: %s\nvacuous: %q", got.Verdict, c.want, c.story, got.Story, report.Vacuous)
			}
			if c.witness != nil {
				if diff := cmp.Diff(c.witness, cite(events, got.Witness)); diff != "" {
					t.Errorf("witness (-want +got):\n%s", diff)
				}
			}
			if c.want == Fail && len(got.Witness) == 0 {
				t.Error("a fail without a witness")
			}
		})
	}
}
