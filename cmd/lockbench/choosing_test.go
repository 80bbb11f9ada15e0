package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
)

// TestChoosingShows runs each command of the table in docs/choosing.md as it is printed: it shows what stands beside it, those properties
// and no others. docs/choosing.zh.md has the same commands.
func TestChoosingShows(t *testing.T) {
	const page = "../../docs/choosing.md"
	shown := regexp.MustCompile("(?m)\\| `(lockbench run [^`]*)`: ([^|]+) \\|$").FindAllStringSubmatch(readText(t, page), -1)
	if len(shown) != 6 {
		t.Fatalf("%s has %d commands with what they show, want 6", page, len(shown))
	}
	var commands []string
	for _, m := range shown {
		commands = append(commands, m[1])
		var stdout, stderr bytes.Buffer
		args := strings.Fields(m[1] + " --out none --format json")[1:]
		if code := run(t.Context(), args, &stdout, &stderr); code != exitExpected {
			t.Errorf("%s: exit code %d\n%s", m[1], code, stderr.String())
			continue
		}
		if got := failing(t, stdout.Bytes()); got != m[2] {
			t.Errorf("%s shows %q, the page says %q", m[1], got, m[2])
		}
	}
	for _, other := range []string{"../../docs/choosing.zh.md"} {
		var there []string
		for _, m := range regexp.MustCompile("(?m)^\\|.* `(lockbench run [^`]* --expect fail)`.*\\|$").FindAllStringSubmatch(readText(t, other), -1) {
			there = append(there, m[1])
		}
		if !slices.Equal(there, commands) {
			t.Errorf("%s has the commands %q, want those of %s, %q", other, there, page, commands)
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// failing names the properties that a run's JSON says are violated.
func failing(t *testing.T, document []byte) string {
	t.Helper()
	var told struct {
		Results checker.Report `json:"results"`
	}
	if err := json.Unmarshal(document, &told); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, res := range told.Results.Results {
		if res.Verdict == checker.Fail {
			all = append(all, report.Label(res.Property))
		}
	}
	return strings.Join(all, ", ")
}
