package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateReadme = flag.Bool("update-readme", false, "rewrite the generated parts of README.md and docs/course")

// TestReadmeIsTrue runs the commands whose output README.md shows and compares. What
// differs from run to run, the time of day, is masked.
func TestReadmeIsTrue(t *testing.T) {
	const path = "../../README.md"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- generated: lockbench ([^\n]*) -->\n```\n(.*?)```\n<!-- end -->")
	n := 0
	want := block.ReplaceAllStringFunc(string(readme), func(old string) string {
		n++
		args := strings.Fields(block.FindStringSubmatch(old)[1])
		return "<!-- generated: lockbench " + strings.Join(args, " ") + " -->\n```\n" + output(t, args) + "```\n<!-- end -->"
	})
	if n == 0 {
		t.Fatal("README.md has no generated parts any more")
	}
	if *updateReadme {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(readme) {
		t.Error("README.md shows something else than lockbench prints now; run: make docs")
	}
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

func output(t *testing.T, args []string) string {
	t.Helper()
	store := t.TempDir()
	if args[0] == "run" {
		args = append(args, "--out", store)
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, &stdout, &stderr); code != exitExpected {
		t.Fatalf("lockbench %v: exit code %d\n%s", args, code, stderr.String())
	}
	out := strings.ReplaceAll(stdout.String(), store, "store")
	out = regexp.MustCompile(`\d{8}T\d{6}\.\d{3}Z`).ReplaceAllString(out, "<time>")
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(out, "")
}
