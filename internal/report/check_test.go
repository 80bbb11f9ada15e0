package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// checked is a recorded run as check takes it.
func checked(t testing.TB, name string) report.Check {
	r := load(t, name, nil)
	cited := map[int]histories.Event{}
	for _, e := range r.Events {
		cited[e.Index] = e
	}
	return report.Check{
		File: "history.jsonl", Format: histories.JSONL, Model: "lock", Run: &r.Meta, Count: len(r.Events), Cited: cited, Drawn: r.Events, Report: r.Report,
	}
}

func checkText(t testing.TB, c report.Check, style report.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.CheckText(&b, c, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCheckGolden(t *testing.T) {
	refused := checked(t, "failover")
	refused.Skipped = []string{"a", "b", "c", "d", "e", "f", "g"}
	refused.Report = checker.Report{
		HarnessErrors: []string{"the history cannot be judged: event 3: x\nevent 4: y"},
		Results:       []checker.Result{{Property: checker.Linearizability, Story: "The history was not judged."}},
	}
	for name, c := range map[string]report.Check{"failover": checked(t, "failover"), "alone": checked(t, "alone"), "refused": refused} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "golden", "check-"+name+".txt")
			got := checkText(t, c, report.Style{Width: 100})
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; go test ./report -update writes it", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("not as in %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// Strings from outside write over nothing, and lines keep to the width.
func TestCheckIsHarmless(t *testing.T) {
	for _, s := range hostile {
		c := checked(t, "failover")
		for i, e := range c.Cited {
			e.Key, e.Value, e.Node, e.Err = s, s, s, s
			c.Cited[i], c.Drawn[i] = e, e
		}
		c.Skipped = []string{s}
		c.Report.HarnessErrors = []string{s}
		for _, property := range []checker.Property{checker.StrictExclusion, checker.Linearizability, checker.Property(s)} {
			c.Report.Results = []checker.Result{{
				Property: property, Verdict: checker.Fail, Story: s, Witness: []int{-1, 0, 1, 2, 3, 4, 99999},
				Attempts: []uint64{c.Drawn[1].Attempt, 7}, Window: &checker.Window{First: -3, Last: 99999},
			}}
			text := checkText(t, c, report.Style{Width: 80})
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if utf8.RuneCountInString(line) > 80 {
					t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
				}
				if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
					t.Errorf("%q", line)
				}
			}
		}
	}
}
