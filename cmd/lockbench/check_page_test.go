package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/crowd"
)

// TestPageOfLongHistory: the page of a history that is too long for one is about its violations.
func TestPageOfLongHistory(t *testing.T) {
	for _, bad := range []bool{true, false} {
		dir := t.TempDir()
		file, page := filepath.Join(dir, "history.jsonl"), filepath.Join(dir, "page.html")
		var text strings.Builder
		if err := writeCrowd(&text, crowd.Crowd{Operations: 2000, Clients: 4, Bad: bad}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		f := checkFlags{model: modelLock, format: formatText, html: page, whole: 1000}
		err := f.check(t.Context(), file, new(strings.Builder), new(strings.Builder))
		if failed := err != nil; failed != bad {
			t.Fatalf("bad %v: %v", bad, err)
		}
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		drawn := string(data)
		events := strings.Count(text.String(), "\n")
		listed := len(regexp.MustCompile(`id="e\d+"`).FindAllString(drawn, -1))
		if bad && (listed == 0 || listed > 50 || !strings.Contains(drawn, `<svg class="picture-names"`)) || !bad && listed > 0 {
			t.Errorf("bad %v: the page lists %d of %d events", bad, listed, events)
		}
		for _, whole := range []string{`id="plot-`, "could not be drawn", `<svg class="picture-strip"`} {
			if strings.Contains(drawn, whole) {
				t.Errorf("bad %v: the page has %s, which is of whole histories", bad, whole)
			}
		}
	}
}
