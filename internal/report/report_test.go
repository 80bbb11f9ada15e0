package report_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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
	"github.com/lockbench/lockbench/internal/causes"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/nemesis"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// load reads a recorded run from testdata/runs. As wanted is what was found, except for
// the properties in want.
func load(t testing.TB, name string, want checker.Expectation) report.Run {
	t.Helper()
	dir := filepath.Join("testdata", "runs", name)
	r, err := report.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Dir = "store/" + r.Scenario + "/20261120T120000.000Z-1"
	r.Page = r.Dir + "/" + histories.ReportFile
	r.Outcome, r.Expected = checker.Compare(r.Report, want)
	r.Causes = causes.Of(causes.Run{Events: r.Events, Exchanges: r.Exchanges, Report: r.Report, ClientFaults: nemesis.Faults(func(k nemesis.Kind) bool { return k.Client }), SparingFaults: nemesis.Faults(func(k nemesis.Kind) bool { return k.Spares }), InstantFaults: nemesis.Faults(func(k nemesis.Kind) bool { return k.AtOnce })})
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
	surprise.Why = "" // it is told of what comes out as the catalogue says
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
		for _, width := range []int{40, 60, 80, 100, 120, 200} {
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
	copied = regexp.MustCompile(`^(Replay: |History:|Report: |        ) \S`)
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

// TestWindowOfAViolation checks that a long history is told by what its first violation is
// about: all of a short window, and of a long one the calls that prove it.
func TestWindowOfAViolation(t *testing.T) {
	var events []histories.Event
	add := func(worker int, typ histories.Type, f histories.F, attempt uint64) int {
		events = append(events, histories.Event{
			Index: len(events), Time: time.Duration(len(events)) * time.Millisecond,
			Process: worker, Worker: worker, Type: typ, F: f, Key: "k", Attempt: attempt,
		})
		return len(events) - 1
	}
	noise := func(n int) {
		for range n {
			attempt := uint64(len(events) + 1000)
			add(2, histories.Invoke, histories.Read, attempt)
			add(2, histories.OK, histories.Read, attempt)
		}
	}
	noise(200)
	first := add(0, histories.Invoke, histories.Acquire, 1)
	add(0, histories.OK, histories.Acquire, 1)
	pause := add(histories.Nemesis, histories.Invoke, "pause", 0)
	noise(40)
	add(1, histories.Invoke, histories.Acquire, 2)
	last := add(1, histories.OK, histories.Acquire, 2)
	noise(500)
	far := add(1, histories.Invoke, histories.Release, 2)
	noise(200)

	res := checker.Result{
		Property: checker.StrictExclusion, Verdict: checker.Fail, Witness: []int{first + 1, last}, Story: "Two held k.",
		Attempts: []uint64{1, 2}, Window: &checker.Window{First: first, Last: last},
	}
	r := report.Run{Events: events, Judgement: checker.Judgement{Report: checker.Report{Verdict: checker.Fail, Results: []checker.Result{res}}}}
	told := text(t, r, report.Style{Width: 200})
	for _, want := range []string{"these are those around the first violation of mutual exclusion", "A        acquires k", "B        acquires k", "C        reads the register"} {
		if !strings.Contains(told, want) {
			t.Errorf("want %q in\n%s", want, told)
		}
	}
	r.Report.Results[0].Window.Last = far
	told = text(t, r, report.Style{Width: 200})
	for _, want := range []string{
		"these are the calls that prove the first violation of mutual exclusion, and the faults meanwhile",
		fmt.Sprintf("%d-%d  0.401  A        acquires k\n", first, first+1), fmt.Sprintf("%d  0.402  nemesis  pause\n", pause),
		fmt.Sprintf("%d-%d  0.484  B        acquires k\n", last-1, last), fmt.Sprintf("%d  1.485  B        releases k …\n", far),
	} {
		if !strings.Contains(told, want) {
			t.Errorf("want %q in\n%s", want, told)
		}
	}
	if strings.Contains(told, "C        ") {
		t.Errorf("what has nothing to do with it is told:\n%s", told)
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

func TestManyErrorsAreOneRow(t *testing.T) {
	events := []histories.Event{}
	add := func(e histories.Event) {
		e.Index, e.Time, e.F, e.Key, e.TTL = len(events), time.Duration(len(events))*time.Millisecond, histories.Acquire, "k", time.Second
		events = append(events, e)
	}
	for i := range 10 {
		e := histories.Event{Process: i, Worker: 0, Attempt: uint64(i + 1), Type: histories.Invoke}
		add(e)
		e.Type, e.Err = histories.Info, "NOSCRIPT"
		if i == 9 {
			e.Err = "EOF"
		}
		add(e)
	}
	told := text(t, report.Run{Events: events}, report.Style{Width: 120})
	if !strings.Contains(told, "tries to acquire k 9 times until 0.017: outcome unknown, NOSCRIPT") || !strings.Contains(told, "EOF") {
		t.Errorf("want one row of nine errors, and one of the tenth:\n%s", told)
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

// TestSharedHoldsAreNoAlarm checks that only those who may not share a key raise an alarm,
// and that the head says what is not as usual with a load.
func TestSharedHoldsAreNoAlarm(t *testing.T) {
	var events []histories.Event
	acquire := func(worker int, mode histories.Mode) {
		attempt := uint64(len(events) + 1)
		for _, kind := range []histories.Type{histories.Invoke, histories.OK} {
			events = append(events, histories.Event{
				Index: len(events), Time: time.Duration(len(events)) * time.Millisecond, Process: worker, Worker: worker,
				Type: kind, F: histories.Acquire, Key: "k", Attempt: attempt, Value: string(mode),
			})
		}
	}
	acquire(0, histories.Shared)
	acquire(1, histories.Shared)
	r := report.Run{Meta: histories.Meta{Scenario: "readwrite", Keys: 3, Rate: 12.5}, Events: events}
	got := text(t, r, report.Style{Width: 120})
	if strings.Count(got, "acquires k for reading") != 2 || strings.Contains(got, "!!") {
		t.Errorf("two readers:\n%s", got)
	}
	if !strings.Contains(got, " · 3 keys · 12.5 rounds/s") {
		t.Errorf("the head says nothing of keys and rate:\n%s", got)
	}
	acquire(2, histories.Exclusive)
	r.Events = events
	if got := text(t, r, report.Style{Width: 120}); strings.Count(got, "!!") != 2 {
		t.Errorf("a writer beside two readers:\n%s", got)
	}
}

// TestBackground checks that what no call of a client sent is told for itself, and what is the
// same once; and that a call is not said to have sent what another key needs.
func TestBackground(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	event := func(i, at int, typ histories.Type, f histories.F, key string, attempt uint64) histories.Event {
		return histories.Event{Index: i, Time: ms(at), Type: typ, F: f, Key: key, Attempt: attempt}
	}
	sent := func(at int, node, command, reply string) histories.Exchange {
		return histories.Exchange{Sent: ms(at), Replied: ms(at), Client: "A", Node: node, Command: command, Reply: reply}
	}
	hangs := event(6, 30, histories.Info, histories.Abandon, "k", 1)
	hangs.Value = "hangs"
	r := report.Run{
		Events: []histories.Event{
			event(0, 0, histories.Invoke, histories.Acquire, "k", 1), event(1, 2, histories.OK, histories.Acquire, "k", 1),
			event(2, 10, histories.Invoke, histories.Acquire, "l", 2), event(3, 14, histories.OK, histories.Acquire, "l", 2),
			event(4, 20, histories.Invoke, histories.Release, "l", 2), event(5, 22, histories.OK, histories.Release, "l", 2),
			hangs,
		},
		Exchanges: []histories.Exchange{
			sent(1, "master", "SET k x", "OK"),
			sent(3, "master", "HELLO 2", ""), sent(4, "register", "EVALSHA k:register", "1"),
			sent(5, "master", "RENEW k", "1"), sent(7, "master", "RENEW k", "1"), sent(8, "master", "RENEW k", "0"),
			sent(11, "master", "SET l y", "OK"), sent(12, "master", "RENEW k", "0"),
			sent(21, "master", "DEL l", "1"), sent(40, "master", "RENEW k", "0"),
		},
	}
	got := text(t, r, report.Style{Width: 120})
	for _, want := range []string{
		"0.005  A  in the background, 2 times until 0.007  → master: RENEW k  1\n",
		"0.008  A  in the background                       → master: RENEW k  0\n",
		"0.012  A  in the background                       → master: RENEW k  0\n",
		"0.014  A  acquires l                              → master: SET l y  OK\n",
		"0.030  A  hangs\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "in the background"); n != 3 || strings.Contains(got, "HELLO") || strings.Contains(got, "register") {
		t.Errorf("%d rows are told of the background, want 3 and nothing of the register:\n%s", n, got)
	}
}
