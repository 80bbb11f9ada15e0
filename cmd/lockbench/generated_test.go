package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var updateReadme = flag.Bool("update-readme", false, "rewrite the generated parts of README.md, README.zh.md, docs/report.md, docs/scenarios.md and docs/course")

// generatedIsTrue runs the commands whose output a page shows, the whole of it or some steps of
// a demo, and compares. What differs from run to run, the time of day, is masked.
func generatedIsTrue(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- generated: lockbench ([^\n]*) -->\n```\n(.*?)```\n<!-- end -->")
	n := 0
	want := block.ReplaceAllStringFunc(string(text), func(old string) string {
		n++
		what := block.FindStringSubmatch(old)[1]
		command, which, ok := strings.Cut(what, ", steps ")
		command, begin, _ := strings.Cut(command, ", from ")
		out := output(t, strings.Fields(command))
		if ok {
			out = steps(t, out, which)
		}
		out = from(t, out, begin)
		return "<!-- generated: lockbench " + what + " -->\n```\n" + out + "```\n<!-- end -->"
	})
	if n == 0 {
		t.Errorf("%s has no generated parts any more", path)
	}
	if *updateReadme {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s shows something else than lockbench prints now; run: make docs", path)
	}
}

// from cuts off what stands before the line that begins so.
func from(t *testing.T, told, begin string) string {
	t.Helper()
	at := strings.Index("\n"+told, "\n"+begin)
	if at < 0 {
		t.Fatalf("no line begins with %q:\n%s", begin, told)
	}
	return told[at:]
}

// steps cuts the steps 4-7, or 4 alone, of the broken lock out of what a demo tells.
func steps(t *testing.T, told, which string) string {
	t.Helper()
	from, to, ok := strings.Cut(which, "-")
	if !ok {
		to = from
	}
	last, err := strconv.Atoi(to)
	if err != nil {
		t.Fatalf("steps %q: want 4 or 4-7", which)
	}
	begin := func(step string) int {
		at := regexp.MustCompile(`(?m)^ *` + step + `  \d+\.\d{3} `).FindStringIndex(told)
		if at == nil {
			return -1
		}
		return at[0]
	}
	first, end := begin(from), begin(strconv.Itoa(last+1))
	if first < 0 || end < first {
		t.Fatalf("there are no steps %s:\n%s", which, told)
	}
	return strings.TrimRight(told[first:end], "\n") + "\n"
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
