package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/language"
)

// TestPagesSpeak draws the page of a run in the language that is asked for, and the page alone.
func TestPagesSpeak(t *testing.T) {
	store := t.TempDir()
	page := filepath.Join(store, "drawn.html")
	told := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != exitExpected {
			t.Fatalf("lockbench %v: exit code %d\n%s", args, code, stderr.String())
		}
		return stdout.String()
	}
	is := func(file, tag string) {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte(`<html lang="`+tag+`">`)) {
			t.Errorf("%s is not in %s", file, tag)
		}
	}
	if out := told("run", "get-del-race", "--out", store, "--lang", "zh"); !strings.Contains(out, "mutual exclusion") {
		t.Errorf("the text of a run is not in English:\n%s", out)
	}
	dir := filepath.Join(store, "get-del-race", "latest")
	is(filepath.Join(dir, "report.html"), "zh-CN")
	told("report", dir, "-o", page)
	is(page, "en")
	told("report", dir, "-o", page, "--lang", "zh")
	is(page, "zh-CN")
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"report", dir, "--lang", "xx"}, io.Discard, &stderr); code != exitUsage {
		t.Errorf("--lang xx: exit code %d, want %d: %s", code, exitUsage, stderr.String())
	}
}

// TestSpeak: the environment chooses the language of all commands that have a choice, and the flag still does.
func TestSpeak(t *testing.T) {
	zh, err := language.Find("zh")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(io.Discard, io.Discard)
	speak(root, zh)
	n := 0
	for _, cmd := range root.Commands() {
		flag := cmd.Flags().Lookup(langFlag)
		if flag == nil {
			continue
		}
		n++
		if got := flag.Value.String(); got != "zh" || flag.DefValue != "zh" || flag.Changed {
			t.Errorf("%s speaks %s, and by default %s; want zh", cmd.Name(), got, flag.DefValue)
		}
		if err := cmd.Flags().Set(langFlag, "en"); err != nil || flag.Value.String() != "en" {
			t.Errorf("%s --lang en speaks %s: %v", cmd.Name(), flag.Value, err)
		}
	}
	if n != 3 {
		t.Errorf("%d commands have a choice, want demo, report and run", n)
	}
}
