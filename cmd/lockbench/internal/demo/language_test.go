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
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/schedule"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// TestLanguagesHaveTheSameTexts checks that no language lacks a text or a place in it.
func TestLanguagesHaveTheSameTexts(t *testing.T) {
	english := Languages()[0]
	for _, lang := range Languages() {
		ours := slices.Collect(maps.Keys(lang.texts))
		ours = slices.DeleteFunc(ours, func(key string) bool { _, ok := english.texts[key]; return !ok }) // the others: TestCatalogueIsTranslated
		if diff := cmp.Diff(slices.Sorted(maps.Keys(english.texts)), slices.Sorted(slices.Values(ours))); diff != "" {
			t.Errorf("keys (-en +%s):\n%s", lang.Name, diff)
		}
		for key, text := range lang.texts {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s is empty", lang.Name, key)
			}
			if _, ok := english.texts[key]; !ok {
				continue
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
	english := Languages()[0]
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`"([a-z]+(?:[.-][a-z]+)+|script|simulated|comma|question)"`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range key.FindAllStringSubmatch(string(source), -1) {
			if _, ok := english.texts[m[1]]; ok {
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
	for _, about := range []topic{theLock, theWait, theWrite, theDraw} {
		for _, key := range about.choices() {
			wanted["choice."+string(about)+"."+key] = true
		}
	}
	for _, backend := range []string{histories.BackendEmbedded, histories.BackendProcess, histories.BackendDocker} {
		wanted["backend."+backend] = true
	}
	for _, b := range []string{"believes.holds", "believes.holds-open", "believes.overdue", "believes.renewed"} {
		wanted[b], wanted[b+"-reading"] = true, true
	}
	for _, o := range []checker.Outcome{checker.Unexpected, checker.Undecided} {
		wanted["verdict."+o.String()+"-outcome"] = true
	}
	wanted["verdict.pass"], wanted["verdict.unknown"] = true, true
	if diff := cmp.Diff(slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(english.texts))); diff != "" {
		t.Errorf("texts (-asked for +there):\n%s", diff)
	}
}

func both(l Lesson) []harness.Result { return []harness.Result{l.Broken, l.Fixed} }

// TestCatalogueIsTranslated checks that every step, every reason, every note and every lock of every demo has
// a text in each language but English, and that no text is for what no demo has any more.
func TestCatalogueIsTranslated(t *testing.T) {
	for _, lang := range Languages()[1:] {
		wanted := map[string]bool{}
		for _, d := range All() {
			l := lesson(t, d)
			wanted["demo."+d.Name+".why"] = true
			if l.Broken.Config.Note != "" || l.Fixed.Config.Note != "" {
				wanted["demo."+d.Name+".note"] = true
			}
			for _, res := range both(l) {
				wanted["lock."+res.Config.Lock.Name] = true
				for _, shot := range res.Snapshots {
					if shot.Step.Verb != "" {
						key, _ := stepKey(shot.Step)
						wanted["step."+key] = true
					}
				}
			}
		}
		there := map[string]bool{}
		for key := range lang.texts {
			if _, ours := Languages()[0].texts[key]; !ours {
				there[key] = true
			}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(there))); diff != "" {
			t.Errorf("%s: texts (-asked for +there):\n%s", lang.Name, diff)
		}
	}
}

// TestStepsInLanguages checks that a step is told with the names of its clients, and in English if the
// language has no text for it.
func TestStepsInLanguages(t *testing.T) {
	zh, err := FindLanguage("zh")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{"B release": "B 解锁", "B leave": "B walks away without a word"} {
		steps, err := schedule.ParseSteps(2, line)
		if err != nil {
			t.Fatal(err)
		}
		if got := zh.step(steps[0]); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
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
