package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
)

// courses are the translations of the course by language, each in a directory of its own.
var courses = map[string]string{"en": "../../docs/course", "zh": "../../docs/course/zh"}

func chapters(t *testing.T, course string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(course, "[0-9R]*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCourseHasAChapterForEachDemo checks that chapters and demos are the same, in one order.
func TestCourseHasAChapterForEachDemo(t *testing.T) {
	for lang, course := range courses {
		t.Run(lang, func(t *testing.T) {
			readme, err := os.ReadFile(filepath.Join(course, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for i, d := range demo.All() {
				want = append(want, fmt.Sprintf("%02d-%s.md", i+1, d.Name))
			}
			for _, file := range chapters(t, course) {
				if name := filepath.Base(file); name != "README.md" {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("chapters are %q, want %q", got, want)
			}
			for i, name := range got {
				if !strings.Contains(string(readme), "("+name+")") {
					t.Errorf("README.md has no link to %s", name)
				}
				asksThenAnswers(t, filepath.Join(course, name), demo.All()[i].Name, lang)
			}
		})
	}
}

// asksThenAnswers checks that a chapter has a question, then the command that answers it, then
// the steps that do.
func asksThenAnswers(t *testing.T, path, name, lang string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	command, mark := "lockbench demo "+name, "?"
	if lang != "en" {
		command, mark = command+" --lang "+lang, "？"
	}
	question, answer, ok := strings.Cut(string(text), "$ "+command+"\n")
	if _, question, _ = strings.Cut(question, "\n## "); !ok || !strings.Contains(question, mark) || !strings.Contains(answer, "<!-- generated: "+command+",") {
		t.Errorf("%s: want a question under the first heading, then the command that answers it, then the steps that do", path)
	}
}

// TestCourseIsTrue runs the commands whose output the course shows, and compares.
func TestCourseIsTrue(t *testing.T) {
	for _, course := range courses {
		for _, path := range chapters(t, course) {
			generatedIsTrue(t, path)
		}
	}
}

// TestCourseCommandsRun runs every command of the course, where it differs from that in
// virtual time and without a terminal.
func TestCourseCommandsRun(t *testing.T) {
	command := regexp.MustCompile("(?m)^\\$ lockbench (.*)$|`lockbench ([^`]*)`")
	ran := map[string]bool{}
	files := slices.Concat(chapters(t, courses["en"]), chapters(t, courses["zh"]))
	for _, course := range courses {
		files = append(files, filepath.Join(course, "plan.md"))
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			line := m[1] + m[2]
			line = strings.ReplaceAll(strings.ReplaceAll(line, " --backend process", ""), " --pause", "")
			args := strings.Fields(line)
			if i := slices.Index(args, "--html"); i >= 0 {
				args[i+1] = filepath.Join(t.TempDir(), args[i+1])
			}
			own := slices.Contains(args, "--worker") || !slices.Contains([]string{"run", "demo", "list"}, args[0])
			if own || ran[line] { // what plays a lock of the reader's own has tests elsewhere
				continue
			}
			ran[line] = true
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
