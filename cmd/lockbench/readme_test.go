package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeIsTrue runs the commands whose output README.md and its translation show, and
// compares.
func TestReadmeIsTrue(t *testing.T) {
	for _, path := range []string{"../../README.md", "../../README.zh.md"} {
		generatedIsTrue(t, path)
	}
}

// TestReadmesTellTheSameCommands checks that the translation tells its reader to type what
// README.md does, but for the language and the explanations.
func TestReadmesTellTheSameCommands(t *testing.T) {
	english := map[string]bool{}
	for _, line := range typed(t, "../../README.md") {
		english[line] = true
	}
	translated := typed(t, "../../README.zh.md")
	if len(translated) == 0 {
		t.Fatal("README.zh.md tells no commands any more")
	}
	for _, line := range translated {
		if !english[line] && !strings.Contains(line, " --lang zh") {
			t.Errorf("README.zh.md tells to type %q, README.md does not", line)
		}
	}
}

// typed returns what the blocks of a page tell to type, without comments.
func typed(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		line, _, _ := strings.Cut(m[1], " # ")
		all = append(all, strings.TrimSpace(line))
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
