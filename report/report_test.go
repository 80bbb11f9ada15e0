package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/report"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// load reads a recorded run from testdata/runs. As wanted is what was found, except for
// the properties in want.
func load(t testing.TB, name string, want checker.Expectation) report.Run {
	t.Helper()
	dir := filepath.Join("testdata", "runs", name)
	meta, events, err := histories.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := report.Run{Meta: meta, Events: events, Dir: "store/" + meta.Scenario + "/20261120T120000.000Z-1"}
	commands, err := os.ReadFile(filepath.Join(dir, histories.CommandsFile))
	if err == nil {
		r.Exchanges, err = histories.ReadExchanges(bytes.NewReader(commands), histories.CommandsFile)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	results, err := os.ReadFile(filepath.Join(dir, histories.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(results, &r.Report); err != nil {
		t.Fatal(err)
	}
	r.Outcome, r.Expected = checker.Compare(r.Report, want)
	return r
}

// asFound expects every property to come out as it did.
func asFound(r report.Run) report.Run {
	want := checker.Expectation{}
	for _, res := range r.Report.Results {
		want[res.Property] = res.Verdict
	}
	r.Outcome, r.Expected = checker.Compare(r.Report, want)
	return r
}

func runs(t testing.TB) map[string]report.Run {
	failover := asFound(load(t, "failover", nil))
	failover.Why = "Redis replicates asynchronously. A's SET was acknowledged before any replica had it, so the promoted replica had never heard of A."
	failover.Survivors = []string{"lockbench run --scenario failover-async-repl --lock redlock --seed 1"}
	surprise := failover
	surprise.Outcome, surprise.Expected = checker.Compare(surprise.Report, nil)
	held := asFound(load(t, "held-delete", nil))
	held.Survivors = []string{"lockbench run --scenario get-del-race --lock setnx-px-watch", "lockbench run --scenario get-del-race --lock setnx-px-lua"}
	fenced := asFound(load(t, "fenced", nil))
	fenced.Note = "No lease survives a holder that stands still: strictly, two held the lock."
	noViolation := load(t, "failover-redlock", nil)
	noViolation.Outcome, noViolation.Expected = checker.Unexpected, nil
	return map[string]report.Run{
		"failover":              failover,
		"failover-unexpected":   surprise,
		"failover-redlock":      load(t, "failover-redlock", nil),
		"violation-that-failed": noViolation,
		"held-delete":           held,
		"fenced":                fenced,
		"crash":                 asFound(load(t, "crash", nil)),
		"alone":                 load(t, "alone", nil),
	}
}

func text(t testing.TB, r report.Run, style report.Style) string {
	t.Helper()
	var b strings.Builder
	if err := report.Text(&b, r, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, r := range runs(t) {
		for kind, got := range map[string]string{
			"120.txt": text(t, r, report.Style{Width: 120}),
			"60.txt":  text(t, r, report.Style{Width: 60}),
			"line":    line(t, r),
			"json":    asJSON(t, r),
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				file := filepath.Join("testdata", "golden", name+"."+kind)
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatalf("%v; go test ./report -update writes it", err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("not as in %s; look at the difference, and if it is right: go test ./report -update\n%s", file, diff)
				}
			})
		}
	}
}

func line(t testing.TB, r report.Run) string {
	t.Helper()
	var b strings.Builder
	if err := report.Line(&b, r, report.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asJSON(t testing.TB, r report.Run) string {
	t.Helper()
	var b strings.Builder
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWidth checks that only what is there to be copied is wider than the terminal.
func TestWidth(t *testing.T) {
	for name, r := range runs(t) {
		for _, width := range []int{60, 80, 100, 120, 200} {
			for _, colour := range []bool{false, true} {
				for _, l := range strings.Split(sgr.ReplaceAllString(text(t, r, report.Style{Width: width, Colour: colour}), ""), "\n") {
					if utf8.RuneCountInString(l) > width && !copied.MatchString(l) {
						t.Errorf("%s: %d columns where %d are wanted: %s", name, utf8.RuneCountInString(l), width, l)
					}
				}
			}
		}
	}
}

var (
	sgr    = regexp.MustCompile(`\x1b\[[0-9;]+m`)
	copied = regexp.MustCompile(`^(Replay: |History:|        ) \S`)
)

// TestColourChangesNothing checks that the report reads the same without colour, and that
// nothing but colours is added.
func TestColourChangesNothing(t *testing.T) {
	for name, r := range runs(t) {
		coloured := text(t, r, report.Style{Width: 100, Colour: true})
		if !strings.Contains(coloured, "\x1b[") {
			t.Errorf("%s: there is no colour", name)
		}
		if diff := cmp.Diff(text(t, r, report.Style{Width: 100}), sgr.ReplaceAllString(coloured, "")); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestWidthOfNothing(t *testing.T) {
	r := runs(t)["failover"]
	if text(t, r, report.Style{}) != text(t, r, report.Style{Width: 100}) {
		t.Error("width 0 is not width 100")
	}
	for _, width := range []int{-5, 1, 10} { // too narrow to be kept to
		if !strings.Contains(text(t, r, report.Style{Width: width}), "Verdict:") {
			t.Errorf("width %d: no verdict", width)
		}
	}
	empty := text(t, report.Run{}, report.Style{})
	if !strings.Contains(empty, "Verdict: nothing can be said; the run is not conclusive.\n") {
		t.Errorf("of nothing at all it says:\n%s", empty)
	}
}

// hostile strings try to write over the screen, to turn text around, or to fill it.
var hostile = []string{
	"\x1b[2J\x1b]0;title\x07",
	"a\rb\bc\x00d\te\nf\vg\x7f",
	"\u202egnirts\u2066\u200b\ufeff\u2028\u0085\u009b31m",
	"\xff\xfe\x80 half \xe2\x82",
	strings.Repeat("k", 5000),
	strings.Repeat("w ", 2000),
	"%s%d%!(EXTRA)",
	"→ OK  → master: DEL x",
}

// spoiled puts a string wherever one comes from outside.
func spoiled(r report.Run, s string) report.Run {
	r.Events = append([]histories.Event{}, r.Events...)
	for i := range r.Events {
		e := &r.Events[i]
		e.Key, e.Value, e.Node, e.Err = s, s, s, s
	}
	r.Exchanges = append([]histories.Exchange{}, r.Exchanges...)
	for i := range r.Exchanges {
		x := &r.Exchanges[i]
		x.Node, x.Command, x.Reply, x.Note = s, "SET "+s, s, s
	}
	r.Report.Results = append([]checker.Result{}, r.Report.Results...)
	for i := range r.Report.Results {
		res := &r.Report.Results[i]
		res.Story, res.Engine, res.Property = "A held "+s+".", s, checker.Property(s)
	}
	r.Report.Vacuous, r.Report.HarnessErrors = []string{s}, []string{s}
	r.Expected = []checker.Judged{{Property: checker.Property(s), Want: checker.Pass, Got: checker.Fail}}
	r.Outcome = checker.Unexpected
	r.Survivors, r.Why, r.Note, r.Dir = []string{s}, s, s, s
	r.Meta.Scenario, r.Meta.Pitfall, r.Meta.Title, r.Meta.Lock, r.Meta.Guard = s, s, s, s, s
	r.Meta.Backend, r.Meta.Topology, r.Meta.Command, r.Meta.Notes = s, s, s, []string{s}
	return r
}

func TestHostileStrings(t *testing.T) {
	for name, run := range runs(t) {
		for i, s := range hostile {
			r := spoiled(run, s)
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				plain := text(t, r, report.Style{Width: 100})
				checkHarmless(t, plain)
				checkHarmless(t, line(t, r))
				checkHarmless(t, sgr.ReplaceAllString(text(t, r, report.Style{Width: 100, Colour: true}), ""))
				for l := range strings.SplitSeq(plain, "\n") {
					if n := utf8.RuneCountInString(l); n > 100 && !copied.MatchString(l) {
						t.Errorf("%d columns: %.120s", n, l)
					}
				}
				if rows := strings.Count(plain, "\n"); rows > 1000 {
					t.Errorf("%d lines", rows)
				}
				var back any
				if err := json.Unmarshal([]byte(asJSON(t, r)), &back); err != nil {
					t.Errorf("JSON: %v", err)
				}
			})
		}
	}
}

func checkHarmless(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("not UTF-8: %.200q", s)
	}
	if at := strings.IndexFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); at >= 0 {
		t.Errorf("%q in %.100q", s[at:min(at+4, len(s))], s[max(at-20, 0):])
	}
}

// TestLongHistoriesAreToldBriefly tells what surrounds the first violation, or how it
// began.
func TestLongHistoriesAreToldBriefly(t *testing.T) {
	var events []histories.Event
	add := func(e histories.Event) {
		e.Index, e.Time, e.Key = len(events), time.Duration(len(events))*time.Millisecond, "k"
		events = append(events, e)
	}
	for i := range uint64(2500) {
		worker := int(i % 3)
		for _, f := range []histories.F{histories.Acquire, histories.Release} {
			add(histories.Event{Process: worker, Worker: worker, Type: histories.Invoke, F: f, Attempt: i + 1})
			add(histories.Event{Process: worker, Worker: worker, Type: histories.OK, F: f, Attempt: i + 1})
		}
	}
	r := report.Run{Events: events}
	r.Report.Results = []checker.Result{{Property: checker.StrictExclusion, Verdict: checker.Pass}}
	told := text(t, r, report.Style{})
	if n := strings.Count(told, "\n"); n > 60 {
		t.Errorf("%d lines are told of a pass", n)
	}
	for _, want := range []string{"10000 events, of which these are the first\n", "  0-1  0.001  A  acquires k\n"} {
		if !strings.Contains(told, want) {
			t.Errorf("want %q in\n%s", want, told)
		}
	}

	for _, witness := range [][]int{{5001, 5005}, {9999}, {0, 9999}, {20000}} {
		r.Report.Verdict = checker.Fail
		r.Report.Results[0] = checker.Result{Property: checker.StrictExclusion, Verdict: checker.Fail, Witness: witness, Story: "Two held k."}
		told = text(t, r, report.Style{})
		if n := strings.Count(told, "\n"); n > 60 {
			t.Errorf("%d lines are told of a violation at %v", n, witness)
		}
		if !strings.Contains(told, "10000 events, of which these are those around the first violation of mutual exclusion\n") {
			t.Errorf("%v: it does not say which events these are:\n%s", witness, told)
		}
		if witness[0] == 5001 && !strings.Contains(told, "  5000-5001  5.001  C  acquires k\n") {
			t.Errorf("the witness is not told:\n%s", told)
		}
	}
}

// TestBeliefFromBeforeTheWindow checks that a holder from long ago is still counted.
func TestBeliefFromBeforeTheWindow(t *testing.T) {
	var events []histories.Event
	add := func(worker int, typ histories.Type, f histories.F, attempt uint64) {
		events = append(events, histories.Event{
			Index: len(events), Time: time.Duration(len(events)) * time.Millisecond,
			Process: worker, Worker: worker, Type: typ, F: f, Key: "k", Attempt: attempt,
		})
	}
	add(0, histories.Invoke, histories.Acquire, 1)
	add(0, histories.OK, histories.Acquire, 1)
	for i := range uint64(500) {
		add(2, histories.Invoke, histories.Acquire, i+10)
		add(2, histories.Fail, histories.Acquire, i+10)
	}
	add(1, histories.Invoke, histories.Acquire, 2)
	add(1, histories.OK, histories.Acquire, 2)
	r := report.Run{Events: events}
	r.Report.Results = []checker.Result{{Property: checker.StrictExclusion, Verdict: checker.Fail, Witness: []int{1003}}}
	if told := text(t, r, report.Style{}); !strings.Contains(told, "A and B both believe that they hold k") {
		t.Errorf("the earlier holder is forgotten:\n%s", told)
	}
}

func TestManyRefusalsAreOneRow(t *testing.T) {
	told := text(t, runs(t)["crash"], report.Style{Width: 120})
	if n := strings.Count(told, "and is refused 32 times until"); n != 2 {
		t.Errorf("%d rows of 32 refusals, want 2:\n%s", n, told)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestWriteErrors(t *testing.T) {
	r := runs(t)["failover"]
	for name, err := range map[string]error{
		"text": report.Text(full{}, r, report.Style{}),
		"line": report.Line(full{}, r, report.Style{}),
		"json": report.JSON(full{}, r),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkText(b *testing.B) {
	r := runs(b)["failover"]
	b.ReportAllocs()
	for b.Loop() {
		text(b, r, report.Style{Width: 120})
	}
}
