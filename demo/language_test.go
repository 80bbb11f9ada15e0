package demo

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/report"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// TestLanguagesHaveTheSameTexts checks that no language lacks a text or a place in it.
func TestLanguagesHaveTheSameTexts(t *testing.T) {
	english := Languages()[0]
	for _, lang := range Languages() {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(english.texts)), slices.Sorted(maps.Keys(lang.texts))); diff != "" {
			t.Errorf("keys (-en +%s):\n%s", lang.Name, diff)
		}
		for key, text := range lang.texts {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s is empty", lang.Name, key)
			}
			places := func(s string) []string {
				return slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(s, -1))))
			}
			if diff := cmp.Diff(places(english.texts[key]), places(text)); diff != "" {
				t.Errorf("%s: places of %s (-en +%[1]s):\n%s", lang.Name, key, diff)
			}
		}
	}
}

// TestEveryTextIsUsed collects the keys that the code can ask for and compares: a text that
// is missing and one that nobody asks for are both mistakes.
func TestEveryTextIsUsed(t *testing.T) {
	wanted := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`"([a-z]+(?:[.-][a-z]+)+|script|simulated|comma|question)"`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "english.go" || file == "chinese.go" {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range key.FindAllStringSubmatch(string(source), -1) {
			if _, ok := english()[m[1]]; ok {
				wanted[m[1]] = true
			}
		}
		// Every literal key must exist.
		for _, m := range regexp.MustCompile(`lang\.text\("([^"]+)"[,)]`).FindAllStringSubmatch(string(source), -1) {
			wanted[m[1]] = true
		}
	}
	for _, d := range All() {
		for _, part := range []string{"title", "intro", "question", "fix"} {
			wanted["demo."+d.Name+"."+part] = true
		}
		if d.FixGuard != 0 {
			wanted["guard."+d.FixGuard.String()] = true
		}
		for _, res := range both(lesson(t, d)) {
			for _, r := range res.Report.Results {
				wanted["property."+string(r.Property)], wanted["means."+string(r.Property)] = true, true
			}
			for _, s := range scenes(res) {
				for _, c := range s.sent {
					if c.script != "" {
						wanted["script."+c.script] = true
					}
				}
			}
		}
	}
	for _, backend := range []string{harness.Embedded, harness.Process, harness.Docker} {
		wanted["backend."+backend] = true
	}
	for _, b := range []string{"believes.holds", "believes.holds-open", "believes.overdue"} {
		wanted[b], wanted[b+"-reading"] = true, true
	}
	for _, o := range []checker.Outcome{checker.Unexpected, checker.Undecided} {
		wanted["verdict."+o.String()+"-outcome"] = true
	}
	wanted["verdict.pass"], wanted["verdict.unknown"] = true, true
	if diff := cmp.Diff(slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(english()))); diff != "" {
		t.Errorf("texts (-asked for +there):\n%s", diff)
	}
}

func both(l Lesson) []harness.Result { return []harness.Result{l.Broken, l.Fixed} }

// TestOthersAreTranslated checks that every step, every reason, every note and every lock of
// every demo has a Chinese text, and that no Chinese text translates what nobody says any more.
func TestOthersAreTranslated(t *testing.T) {
	for _, lang := range Languages() {
		if lang.others == nil {
			continue
		}
		used := map[string]bool{}
		want := func(said string) {
			t.Helper()
			if _, ok := lang.others[said]; !ok {
				t.Errorf("%s has no text for %q", lang.Name, said)
			}
			used[said] = true
		}
		for _, d := range All() {
			l := lesson(t, d)
			want(l.Scenario.Why)
			for _, res := range both(l) {
				want(res.Config.Lock.Title)
				if res.Config.Note != "" {
					want(res.Config.Note)
				}
				for _, shot := range res.Album {
					if shot.Step == "" {
						continue
					}
					text, ok := lang.step(shot.Step, res.Config.Workload.Clients())
					if !ok || placeholder.MatchString(text) {
						t.Errorf("%s: %s has no text for step %q", d.Name, lang.Name, shot.Step)
					}
					for english := range lang.others {
						for _, client := range []string{"A", "B", "C"} {
							if fill(english, "client", client) == shot.Step {
								used[english] = true
							}
						}
					}
				}
			}
		}
		for english, text := range lang.others {
			if !used[english] {
				t.Errorf("%s: nobody says %q any more", lang.Name, english)
			}
			if text == english || strings.Count(text, "{client}") != strings.Count(english, "{client}") {
				t.Errorf("%s: %q is no translation of %q", lang.Name, text, english)
			}
		}
	}
}

// TestUntranslatedStep checks that a step without a translation is found to have none.
func TestUntranslatedStep(t *testing.T) {
	zh, err := FindLanguage("zh")
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := zh.step("B dances", 2); ok || text != "B dances" {
		t.Errorf("got %q, %v", text, ok)
	}
	if text, ok := zh.step("B releases", 2); !ok || text != "B 解锁" {
		t.Errorf("got %q, %v", text, ok)
	}
	if _, ok := zh.step("C releases", 2); ok {
		t.Error("there are two clients, and C is none of them")
	}
}

// TestNothingIsLeftOpen checks that no placeholder gets into what is told, and no key.
func TestNothingIsLeftOpen(t *testing.T) {
	open := regexp.MustCompile(`\{[a-z]+\}|%!`)
	for _, d := range All() {
		for _, lang := range Languages() {
			text := tell(t, lesson(t, d), lang, report.Style{})
			for _, m := range open.FindAllString(text, -1) {
				if m != "{intent}" { // a sorted set with that member alone
					t.Errorf("%s in %s: %s", d.Name, lang.Name, m)
				}
			}
		}
	}
}
