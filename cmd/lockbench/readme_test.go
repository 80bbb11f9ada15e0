package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestReadmeIsTrue runs the commands whose output README.md, its translation and the pages that it
// leads to show, and compares.
func TestReadmeIsTrue(t *testing.T) {
	for _, path := range []string{"../../README.md", "../../README.zh.md", "../../docs/report.md", "../../docs/scenarios.md"} {
		generatedIsTrue(t, path)
	}
}

// TestReadmesTellTheSameCommands checks that the translation tells its reader to type what
// README.md and the pages of docs do, but for the language and the explanations.
func TestReadmesTellTheSameCommands(t *testing.T) {
	english := map[string]bool{}
	for _, page := range englishPages(t) {
		for _, line := range typed(t, page) {
			english[line] = true
		}
	}
	translated := typed(t, "../../README.zh.md")
	if len(translated) == 0 {
		t.Fatal("README.zh.md tells no commands any more")
	}
	for _, line := range translated {
		if !english[line] && !strings.Contains(line, " --lang zh") {
			t.Errorf("README.zh.md tells to type %q, no page in English does", line)
		}
	}
}

// englishPages are README.md and the pages of docs, in English.
func englishPages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	docs = slices.DeleteFunc(docs, func(page string) bool { return strings.HasSuffix(page, ".zh.md") })
	return append(docs, "../../README.md")
}

// TestReadmeIsShort keeps README.md to what a newcomer reads: 10 KB, and 100 columns in what it shows.
func TestReadmeIsShort(t *testing.T) {
	text := readText(t, "../../README.md")
	if len(text) > 10_000 {
		t.Errorf("README.md has %d bytes, want 10000 at most: the rest belongs to docs", len(text))
	}
	shown := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			shown = !shown
		}
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); shown && n > 100 {
			t.Errorf("README.md shows a line of %d columns, want 100 at most: %s", n, line)
		}
	}
}

// TestDocsLinkToWhatIsThere follows the links of the pages within the project, and asks of docs/README.md that it leads to every page.
func TestDocsLinkToWhatIsThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#: ]+)(?:#[^)]*)?\)`)
	index := readText(t, "../../docs/README.md")
	for _, page := range append(englishPages(t), "../../README.zh.md", "../../CONTRIBUTING.md", "../../docs/choosing.zh.md") {
		for _, m := range link.FindAllStringSubmatch(readText(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
		name := filepath.Base(page)
		if filepath.Base(filepath.Dir(page)) == "docs" && name != "README.md" && !strings.HasSuffix(name, ".zh.md") && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

// TestDocsTellCommandsThatParse looks up every command that the pages tell to type, or name in a sentence or a table, and its flags.
func TestDocsTellCommandsThatParse(t *testing.T) {
	looked := 0
	for _, page := range append(englishPages(t), "../../README.zh.md") {
		for _, line := range append(typed(t, page), named(t, page)...) {
			_, line, ok := strings.Cut(" "+line, " lockbench ")
			if !ok {
				continue
			}
			looked++
			words, err := split(line)
			if err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
				continue
			}
			cmd, rest, err := newRoot(io.Discard, io.Discard).Find(words)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s tells to type lockbench %s: %v", page, line, err)
			}
		}
	}
	if looked < 200 {
		t.Errorf("the pages tell %d commands, want 200 at least", looked)
	}
}

// typed returns what the blocks of a page tell to type, without comments, and as somebody does who has installed lockbench.
func typed(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		line, _, _ := strings.Cut(m[1], " # ")
		all = append(all, strings.TrimSpace(strings.Replace(line, "go run ./cmd/lockbench ", "lockbench ", 1)))
	}
	return all
}

// named returns the commands that stand within the sentences and tables of a page.
func named(t *testing.T, path string) []string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile("`(lockbench [^`]+)`").FindAllStringSubmatch(readText(t, path), -1) {
		all = append(all, m[1])
	}
	return all
}

// TestReadmePictureIsTrue draws the picture that README.md shows again.
func TestReadmePictureIsTrue(t *testing.T) {
	const path = "../../docs/failover-async-repl.svg"
	store := t.TempDir()
	drawn := filepath.Join(store, "drawn.svg")
	for _, args := range [][]string{
		{"run", "--scenario", "failover-async-repl", "--out", store},
		{"report", filepath.Join(store, "failover-async-repl", "latest"), "--format", "svg", "-o", drawn},
	} {
		var stderr bytes.Buffer
		if code := run(context.Background(), args, io.Discard, &stderr); code != exitExpected {
			t.Fatalf("lockbench %v: exit code %d\n%s", args, code, stderr.String())
		}
	}
	got, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	if *updateReadme {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error(path + " is not what lockbench draws now; look at it, and if it is right run: make docs")
	}
}
