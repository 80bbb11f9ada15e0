package checker

import (
	"os"
	"strings"
	"testing"
)

// TestReportDefinesProperties holds the table of docs/report.md against the definitions.
func TestReportDefinesProperties(t *testing.T) {
	page, err := os.ReadFile("../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| property | holds if |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var got, want []string
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|---") {
			got = append(got, line)
		}
	}
	for _, p := range Properties() {
		if p.Definition() == "" {
			t.Errorf("%s has no definition", p)
		}
		if p != Linearizability { // it is of histories that are no locks'
			want = append(want, "| "+strings.ReplaceAll(string(p), "-", " ")+" | "+p.Definition()+" |")
		}
	}
	g, w := strings.Join(got, "\n"), strings.Join(want, "\n")
	switch {
	case g == w:
	case *update && g != "":
		indented := func(rows []string) string { return strings.Join(rows, "\n  ") }
		if err := os.WriteFile("../docs/report.md", []byte(strings.Replace(string(page), indented(got), indented(want), 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/report.md says\n%s\nwant\n%s\nrun: make docs", g, w)
	}
	if d := Property("no-such").Definition(); d != "" {
		t.Errorf("an unknown property is defined as %q", d)
	}
}
