package demo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	diffs "github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/scenarios"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// played are the lessons on the default backend with seed 1, each played once.
var played sync.Map

func lesson(t *testing.T, d Demo) Lesson {
	t.Helper()
	once, _ := played.LoadOrStore(d.Name, sync.OnceValues(func() (Lesson, error) {
		return perform(context.Background(), d, Options{Seed: 1})
	}))
	l, err := once.(func() (Lesson, error))()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func perform(ctx context.Context, d Demo, o Options) (Lesson, error) {
	p, err := Prepare(d, o)
	if err != nil {
		return Lesson{}, err
	}
	return p.Play(ctx)
}

func find(t *testing.T, name string) Demo {
	t.Helper()
	d, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tell(t *testing.T, l Lesson, lang Language, style report.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := Tell(&b, l, lang, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDemosAreSound checks what the compiler cannot: that the catalogue says something of
// both locks, that the second is a survivor, and that the question comes before a step.
func TestDemosAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range All() {
		if seen[d.Name] {
			t.Errorf("%s is there twice", d.Name)
		}
		seen[d.Name] = true
		s, err := scenarios.Find(d.Scenario)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		fix := scenarios.Case{Lock: d.Fix, Guard: d.FixGuard, Remedy: d.FixRemedy}
		if !slices.ContainsFunc(s.Survivors(), func(c scenarios.Case) bool { return c.String() == fix.String() }) {
			t.Errorf("%s: %v does not survive %s", d.Name, fix, s.Name)
		}
		for _, asked := range []string{d.Ask.Step, cmp.Or(d.Ask.Until, d.Ask.Step)} {
			if !slices.ContainsFunc(s.Script.Steps, func(step schedule.Step) bool { return step.String() == asked }) {
				t.Errorf("%s: no step is %q", d.Name, asked)
			}
		}
	}
	var unknown *catalogue.UnknownError
	if _, err := Find("get-dle"); !errors.As(err, &unknown) || unknown.Nearest != "get-del" {
		t.Errorf("a misspelt name: %v", err)
	}
	if _, err := FindLanguage("cn"); !errors.As(err, &unknown) || unknown.Kind != "language" {
		t.Errorf("an unknown language: %v", err)
	}
}

// TestDemosShowWhatTheyTeach plays every demo with several seeds: the broken lock breaks and
// its fix survives, as the catalogue has it.
func TestDemosShowWhatTheyTeach(t *testing.T) {
	for _, d := range All() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 3; seed++ {
				l, err := perform(t.Context(), d, Options{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				if l.Broken.Report.Verdict != checker.Fail || l.Outcome() != checker.AsExpected {
					t.Errorf("seed %d: the broken lock is %v, and the outcomes are %v and %v",
						seed, l.Broken.Report.Verdict, l.Broken.Outcome, l.Fixed.Outcome)
				}
			}
		})
	}
}

// TestGolden compares what is told with what was told. Virtual time makes it exact.
func TestGolden(t *testing.T) {
	for _, d := range All() {
		for _, lang := range Languages() {
			for _, width := range []int{100, 80} {
				if width == 80 && d.Name != "setnx-expire" && d.Name != "get-del" {
					continue
				}
				compare(t, fmt.Sprintf("%s.%s.%d.txt", d.Name, lang.Name, width), tell(t, lesson(t, d), lang, report.Style{Width: width}))
			}
		}
	}
	compare(t, "get-del.en.colour.txt", tell(t, lesson(t, find(t, "get-del")), Languages()[0], report.Style{Width: 100, Colour: true}))
	for _, lang := range Languages() {
		var b bytes.Buffer
		if err := List(&b, lang, report.Style{Width: 80}); err != nil {
			t.Fatal(err)
		}
		compare(t, "list."+lang.Name+".txt", b.String())
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := diffs.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what is told; run go test ./demo -update, and read what changed (-file +told):\n%s", path, diff)
	}
}

// TestWidth checks that nothing but commands that are there to be copied is wider than the terminal.
func TestWidth(t *testing.T) {
	for _, d := range All() {
		for _, lang := range Languages() {
			for _, width := range []int{72, 80, 100, 200} {
				for line := range strings.Lines(tell(t, lesson(t, d), lang, report.Style{Width: width})) {
					line = strings.TrimSuffix(line, "\n")
					if columns(line) > min(width, widest) && !strings.Contains(line, "lockbench run") && !strings.Contains(line, "lockbench demo") {
						t.Errorf("%s in %s: %d columns instead of %d: %q", d.Name, lang.Name, columns(line), width, line)
					}
					if strings.TrimRight(line, " ") != line {
						t.Errorf("%s in %s: spaces at the end of %q", d.Name, lang.Name, line)
					}
				}
			}
		}
	}
}

// TestColourSaysNothing checks that without its colours the coloured telling is the plain one.
func TestColourSaysNothing(t *testing.T) {
	l, lang := lesson(t, find(t, "get-del")), Languages()[1]
	coloured := tell(t, l, lang, report.Style{Colour: true})
	if !strings.Contains(coloured, "\x1b[1;31m") {
		t.Fatal("nothing is red")
	}
	plain := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(coloured, "")
	plain = regexp.MustCompile(`(?m) +$`).ReplaceAllString(plain, "")
	if diff := diffs.Diff(tell(t, l, lang, report.Style{}), plain); diff != "" {
		t.Errorf("(-plain +coloured):\n%s", diff)
	}
}

// TestTellsWhatWasRecorded exchanges the halves of a lesson: the telling must follow the
// records and the verdicts, and not what a demo is supposed to show.
func TestTellsWhatWasRecorded(t *testing.T) {
	l := lesson(t, find(t, "get-del"))
	l.Broken, l.Fixed = l.Fixed, l.Broken
	text := tell(t, l, Languages()[0], report.Style{})
	first, second, ok := strings.Cut(text, "Fix:  ")
	if !ok {
		t.Fatal("it tells no fix")
	}
	if strings.Contains(text, "Why:  ") {
		t.Error("it says why of a lock that did not break")
	}
	for _, sign := range []string{"!!", "FAIL", "both believe"} {
		if strings.Contains(first, sign) {
			t.Errorf("%q is told of a run in which nothing was violated", sign)
		}
		if !strings.Contains(second, sign) {
			t.Errorf("%q is not told of a run in which the lock broke", sign)
		}
	}
	if !strings.Contains(first, "C believes    somebody else has the lock: it was refused") || !strings.Contains(first, "Nothing is violated.") {
		t.Errorf("C was refused, and it says:\n%s", first)
	}
}

// TestUnexpectedIsTold checks that a run which did not come out as the catalogue expects is
// told as such, and that unknown is not passed off as a pass.
func TestUnexpectedIsTold(t *testing.T) {
	l := lesson(t, find(t, "get-del"))
	for outcome, want := range map[checker.Outcome]string{
		checker.Unexpected: "This is NOT what the catalogue expects of this lock.",
		checker.Undecided:  "This run proves nothing",
	} {
		odd := l
		odd.Fixed.Outcome = outcome
		if odd.Outcome() != outcome {
			t.Errorf("the outcome of both is %v, want %v", odd.Outcome(), outcome)
		}
		if text := tell(t, odd, Languages()[0], report.Style{}); !strings.Contains(text, want) || strings.Contains(tell(t, l, Languages()[0], report.Style{}), want) {
			t.Errorf("%v is not told", outcome)
		}
	}
}

// TestSameRunInEveryLanguage checks that languages differ in words and not in facts.
func TestSameRunInEveryLanguage(t *testing.T) {
	facts := regexp.MustCompile(`(?m)^ +\d+  \d+\.\d{3}|[ABCD] → \S+|[0-9a-f]{4}…|FAIL`)
	for _, d := range All() {
		var first []string
		for i, lang := range Languages() {
			told := facts.FindAllString(tell(t, lesson(t, d), lang, report.Style{Width: 100}), -1)
			if i == 0 {
				first = told
			} else if diff := diffs.Diff(first, told); diff != "" {
				t.Errorf("%s in %s:\n%s", d.Name, lang.Name, diff)
			}
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestUnwritable(t *testing.T) {
	if err := Tell(full{}, lesson(t, find(t, "get-del")), Languages()[0], report.Style{}); err == nil {
		t.Error("what nobody can read was told")
	}
	if err := List(full{}, Languages()[0], report.Style{}); err == nil {
		t.Error("what nobody can read was listed")
	}
}

// TestOnServers plays two demos on real servers: the same verdicts, and the same words but
// for times and random values.
func TestOnServers(t *testing.T) {
	locktest.NeedRedis(t)
	for _, name := range []string{"setnx-expire", "failover"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := perform(t.Context(), find(t, name), Options{Backend: harness.Process(), Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if l.Outcome() != checker.AsExpected {
				t.Errorf("the outcomes are %v and %v", l.Broken.Outcome, l.Fixed.Outcome)
			}
			text := tell(t, l, Languages()[0], report.Style{})
			for _, want := range []string{"real redis-server processes", "violated: ", "Nothing is violated."} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not told:\n%s", want, text)
				}
			}
			if strings.Contains(text, "in virtual time") {
				t.Error("real servers are told to be simulated")
			}
		})
	}
}

// TestGuardsHaveTexts checks that every guard of a demo is explained.
func TestGuardsHaveTexts(t *testing.T) {
	for _, d := range All() {
		if d.FixGuard == resource.None {
			continue
		}
		for _, lang := range Languages() {
			if lang.texts["guard."+d.FixGuard.String()] == "" {
				t.Errorf("%s does not explain guard %v", lang.Name, d.FixGuard)
			}
		}
	}
}
