package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
)

const course = "../../docs/course"

func chapters(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(course, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCourseHasAChapterForEachDemo checks that chapters and demos are the same, in one order.
func TestCourseHasAChapterForEachDemo(t *testing.T) {
	want := []string{"README.md"}
	readme, err := os.ReadFile(filepath.Join(course, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range demo.All() {
		name := fmt.Sprintf("%02d-%s.md", i+1, d.Name)
		want = append(want, name)
		if !strings.Contains(string(readme), "("+name+")") {
			t.Errorf("README.md has no link to %s", name)
		}
		text, err := os.ReadFile(filepath.Join(course, name))
		if err != nil {
			t.Error(err)
			continue
		}
		_, predict, _ := strings.Cut(string(text), "\n## Predict\n")
		question, answer, ok := strings.Cut(predict, "$ lockbench demo "+d.Name+"\n")
		if !ok || !strings.Contains(question, "?") || !strings.Contains(answer, "<!-- generated: lockbench demo "+d.Name+",") {
			t.Errorf("%s: want a question under Predict, then the command that answers it, then the steps that do", name)
		}
	}
	var got []string
	for _, file := range chapters(t) {
		got = append(got, filepath.Base(file))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("chapters are %q, want %q", got, want)
	}
}

// TestCourseIsTrue runs the commands whose output the course shows, and compares.
func TestCourseIsTrue(t *testing.T) {
	block := regexp.MustCompile("(?s)<!-- generated: lockbench ([^\n]*) -->\n```\n(.*?)```\n<!-- end -->")
	for _, path := range chapters(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		want := block.ReplaceAllStringFunc(string(text), func(old string) string {
			n++
			what := block.FindStringSubmatch(old)[1]
			command, which, ok := strings.Cut(what, ", steps ")
			out := output(t, strings.Fields(command))
			if ok {
				out = steps(t, out, which)
			}
			return "<!-- generated: lockbench " + what + " -->\n```\n" + out + "```\n<!-- end -->"
		})
		if n == 0 {
			t.Errorf("%s has no generated parts any more", path)
		}
		if *updateReadme {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want != string(text) {
			t.Errorf("%s shows something else than lockbench tells now; run: make docs", path)
		}
	}
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

// TestCourseCommandsRun runs every command of the course, where it differs from that in
// virtual time and without a terminal.
func TestCourseCommandsRun(t *testing.T) {
	command := regexp.MustCompile("(?m)^\\$ lockbench (.*)$|`lockbench ([^`]*)`")
	ran := map[string]bool{}
	for _, path := range chapters(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			line := m[1] + m[2]
			line = strings.ReplaceAll(strings.ReplaceAll(line, " --backend process", ""), " --pause", "")
			if ran[line] {
				continue
			}
			ran[line] = true
			args := strings.Fields(line)
			if args[0] == "run" {
				args = append(args, "--out", "none")
			}
			var stdout, stderr bytes.Buffer
			if code := run(context.Background(), args, &stdout, &stderr); code != exitExpected {
				t.Errorf("%s: lockbench %s: exit code %d\n%s", filepath.Base(path), line, code, stderr.String())
			}
		}
	}
	if len(ran) < 2*len(demo.All()) {
		t.Errorf("%d commands in the course, want at least two for each demo: %v", len(ran), ran)
	}
}
