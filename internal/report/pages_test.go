package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/joshdk/go-junit"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
)

// drawn is what a page has.
func drawn(t testing.TB, draw func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asJUnit(t testing.TB, runs ...report.Run) string {
	t.Helper()
	return drawn(t, func(w io.Writer) error { return report.JUnit(w, runs) })
}

func asMarkdown(t testing.TB, runs ...report.Run) string {
	t.Helper()
	return drawn(t, func(w io.Writer) error { return report.Markdown(w, runs) })
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", "golden", file)
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
}

// failed is a run that the harness could not finish.
func failed(r report.Run, err string) report.Run {
	r.Error = err
	r.Judgement = checker.Judgement{}
	return r
}

func TestPagesGolden(t *testing.T) {
	all := runs(t)
	all["failed"] = failed(all["failover"], "step 4, the master dies: it does not\nwhat was recorded is kept in store")
	for name, r := range all {
		golden(t, name+".xml", asJUnit(t, r))
		golden(t, name+".md", asMarkdown(t, r))
	}
	golden(t, "failed.json", asJSON(t, all["failed"]))
	several := []report.Run{all["failover"], all["failover-unexpected"], all["alone"], all["failed"]}
	for i := range several {
		several[i].Seed = uint64(i + 1)
	}
	golden(t, "several.xml", asJUnit(t, several...))
	golden(t, "several.md", asMarkdown(t, several...))
	golden(t, "several.jsonl", drawn(t, func(w io.Writer) error {
		return errors.Join(report.JSONLine(w, several[2]), report.JSONLine(w, several[3]), report.JSONLine(w, report.Run{Error: "interrupted after 2 of 3 runs"}))
	}))
}

func refusedCheck(t testing.TB) report.Check {
	c := checked(t, "failover")
	c.Skipped = []string{"history.jsonl:3: no event", "history.jsonl:7: no event"}
	c.Report = checker.Report{HarnessErrors: []string{"the history cannot be judged: event 3: x\nevent 4: y"}}
	return c
}

func TestCheckPagesGolden(t *testing.T) {
	for name, c := range map[string]report.Check{"failover": checked(t, "failover"), "alone": checked(t, "alone"), "refused": refusedCheck(t)} {
		golden(t, "check-"+name+".json", drawn(t, func(w io.Writer) error { return report.CheckJSON(w, c) }))
		golden(t, "check-"+name+".xml", drawn(t, func(w io.Writer) error { return report.CheckJUnit(w, c) }))
		golden(t, "check-"+name+".md", drawn(t, func(w io.Writer) error { return report.CheckMarkdown(w, c) }))
	}
}

// bad counts the cases of JUnit's XML that did not pass, and all of them, as others read it.
func bad(t testing.TB, text string) (failed, cases int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%.2000s", err, text)
		}
	}
	suites, err := junit.Ingest([]byte(text))
	if err != nil {
		t.Fatalf("no JUnit: %v\n%.2000s", err, text)
	}
	for _, s := range suites {
		for _, c := range s.Tests {
			cases++
			if c.Name == "" || c.Classname == "" {
				t.Errorf("a case without a name: %+v", c)
			}
			if c.Status == junit.StatusFailed || c.Status == junit.StatusError {
				failed++
				if c.Message == "" || c.Error == nil {
					t.Errorf("%s does not say why", c.Name)
				}
			}
		}
	}
	return failed, cases
}

// TestJUnitFailsAsTheRunDoes checks that something has failed in the XML if and only if the exit
// code is not 0, whatever was expected.
func TestJUnitFailsAsTheRunDoes(t *testing.T) {
	verdicts := []checker.Verdict{checker.Unknown, checker.Pass, checker.Fail, checker.NotApplicable}
	r := runs(t)["failover"]
	reds, greens := 0, 0
	for _, got := range verdicts {
		for _, other := range verdicts {
			rep := checker.Report{Verdict: got.Merge(other), Results: []checker.Result{
				{Property: checker.StrictExclusion, Verdict: got, Story: "One."}, {Property: checker.Ownership, Verdict: other, Story: "Another."},
			}}
			var judgements []checker.Judgement
			for _, want := range []checker.Expectation{nil, {checker.StrictExclusion: checker.Fail}, {checker.Ownership: checker.NotApplicable}, {checker.Fencing: checker.Pass}} {
				j, err := checker.NewJudgement(rep, want, checker.Unknown)
				if err != nil {
					t.Fatal(err)
				}
				judgements = append(judgements, j)
			}
			for _, all := range []checker.Verdict{checker.Pass, checker.Fail} {
				j, err := checker.NewJudgement(rep, nil, all)
				if err != nil {
					t.Fatal(err)
				}
				judgements = append(judgements, j)
			}
			for _, j := range judgements {
				r.Judgement = j
				red, cases := bad(t, asJUnit(t, r))
				if want := j.Outcome != checker.AsExpected; (red > 0) != want || cases == 0 {
					t.Errorf("%v and %v, judged %+v, outcome %v: %d of %d cases failed", got, other, j.Expected, j.Outcome, red, cases)
				}
				if red > 0 {
					reds++
				} else {
					greens++
				}
			}
			red, _ := bad(t, drawn(t, func(w io.Writer) error { return report.CheckJUnit(w, report.Check{File: "f", Report: rep}) }))
			if (red > 0) != (rep.Verdict != checker.Pass) {
				t.Errorf("check: %v and %v: %d cases failed", got, other, red)
			}
		}
	}
	if reds == 0 || greens == 0 {
		t.Errorf("%d failed and %d passed: nothing was put to the test", reds, greens)
	}
	if red, _ := bad(t, asJUnit(t, failed(r, "no servers"))); red != 1 {
		t.Errorf("a run that the harness could not finish: %d cases failed", red)
	}
	if red, _ := bad(t, drawn(t, func(w io.Writer) error { return report.CheckJUnit(w, refusedCheck(t)) })); red != 1 {
		t.Errorf("a history that breaks the rules: %d cases failed", red)
	}
}

// What a failed case tells is enough to see it again.
func TestJUnitTellsHowToReplay(t *testing.T) {
	suites, err := junit.Ingest([]byte(asJUnit(t, runs(t)["failover-unexpected"])))
	if err != nil {
		t.Fatal(err)
	}
	c := suites[0].Tests[0]
	for _, want := range []string{"FAIL, expected pass", "A held orders/42 from 0.003 s", "[events 2, 10]", "Replay: lockbench run --scenario failover-async-repl", "History: store/"} {
		if !strings.Contains(c.Error.Error(), want) {
			t.Errorf("want %q in %q", want, c.Error)
		}
	}
	if !strings.HasPrefix(c.Message, "A held orders/42 from 0.003 s") {
		t.Errorf("the message is %q", c.Message)
	}
}

// vicious are strings that mean something to XML, Markdown or JSON.
var vicious = append([]string{
	"]]><!--&amp;</failure></testcase><![CDATA[",
	"a|b\\|c\\\\|d`e``f```g\n| x | y |\n|---|---|\n# h\n```\n",
	"<script>alert(1)</script>[x](javascript:1)![y](z) *b* _i_ ~~s~~",
	"\x00\x01\x08\x0b\x0c\x1f\x7f\ufffe\uffff\ud7ff",
	"\xc3\x28\xa0\xa1\xed\xa0\x80",
	`"'\` + "\t\r\n",
	strings.Repeat("k|`\xff", 1<<18),
	" ",
}, hostile...)

func TestPagesOfHostileStrings(t *testing.T) {
	for name, run := range map[string]report.Run{"failover": runs(t)["failover"], "fenced": runs(t)["fenced"]} {
		for i, s := range vicious {
			if len(s) >= 1<<20 && name != "failover" {
				continue // once is enough
			}
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				r := spoiled(run, s)
				innocent := spoiled(run, "x")
				broken := r
				broken.Error = s + s
				pages := [][]report.Run{{r}, {broken}, {r, broken, r}}
				twins := [][]report.Run{{innocent}, {func() report.Run { i := innocent; i.Error = "x"; return i }()}, nil}
				for n, page := range pages {
					xml := asJUnit(t, page...)
					checkHarmless(t, xml)
					_, cases := bad(t, xml)
					md := asMarkdown(t, page...)
					checkTables(t, md)
					if len(xml) > 1<<20 || len(md) > 1<<18 && len(s) < 1<<20 {
						t.Errorf("%d bytes of XML, %d of Markdown", len(xml), len(md))
					}
					if twins[n] == nil {
						continue
					}
					if _, want := bad(t, asJUnit(t, twins[n]...)); cases != want {
						t.Errorf("%d cases in\n%.2000s\nwant %d", cases, xml, want)
					}
				}
				var line bytes.Buffer
				if err := report.JSONLine(&line, broken); err != nil {
					t.Fatal(err)
				}
				if !json.Valid(line.Bytes()) || !utf8.Valid(line.Bytes()) || bytes.Count(line.Bytes(), []byte("\n")) != 1 {
					t.Errorf("not one line of JSON: %.300q", line.String())
				}
				c := checked(t, "failover")
				c.File, c.Model, c.Skipped, c.Run = s, s, []string{s}, &r.Meta
				c.Report = r.Report
				xml := drawn(t, func(w io.Writer) error { return report.CheckJUnit(w, c) })
				checkHarmless(t, xml)
				bad(t, xml)
				checkTables(t, drawn(t, func(w io.Writer) error { return report.CheckMarkdown(w, c) }))
			})
		}
	}
}

// checkTables checks that every row of every table has as many columns as its head, whichever
// rule a renderer has for backslashes before pipes, and that no other line has become markup.
func checkTables(t *testing.T, md string) {
	t.Helper()
	checkHarmless(t, md)
	columns, tables, fence := 0, 0, ""
	for l := range strings.Lines(md) {
		l = strings.TrimSuffix(l, "\n")
		if fence != "" {
			if l == fence {
				fence = ""
			}
			continue
		}
		switch {
		case strings.HasPrefix(l, "```"):
			fence = l[:strings.LastIndex(l, "`")+1]
		case strings.HasPrefix(l, "|"):
			pairs, single := pipes(l)
			if columns == 0 {
				columns, tables = pairs, tables+1
			}
			if pairs != columns || single != columns {
				t.Errorf("%d or %d pipes, want %d: %.300s", pairs, single, columns, l)
			}
			continue
		case markup.MatchString(codeTag.ReplaceAllString(uncoded(l), "")):
			t.Errorf("markup: %.300s", l)
		}
		columns = 0
	}
	if fence != "" {
		t.Errorf("a block of code has no end: %.300s", md)
	}
	if tables == 0 {
		t.Errorf("there is no table in %.300s", md)
	}
}

// markup is what only strings from outside could have made.
var markup = regexp.MustCompile(`<[a-z!/]|(^|[^\\])(\[|\]|_|~)|(^|[^\\*])\*([^*]|$)`)

var codeTag = regexp.MustCompile(`</?code>`)

// uncoded is a line without what stands between backticks.
func uncoded(line string) string {
	var b strings.Builder
	for {
		at := strings.Index(line, "`")
		if at < 0 || at > 0 && line[at-1] == '\\' {
			return b.String() + line
		}
		rest := strings.TrimLeft(line[at:], "`")
		marks := line[at : len(line)-len(rest)]
		_, after, ok := strings.Cut(rest, marks)
		if !ok {
			return b.String() + line
		}
		b.WriteString(line[:at])
		line = after
	}
}

// pipes counts those that divide a row: where two backslashes are one, and where any backslash
// before a pipe escapes it.
func pipes(row string) (pairs, single int) {
	escaped := false
	for i, c := range []byte(row) {
		if c == '|' {
			if !escaped {
				pairs++
			}
			if i == 0 || row[i-1] != '\\' {
				single++
			}
		}
		escaped = c == '\\' && !escaped
	}
	return pairs, single
}

// TestCodeKeepsPipes checks the one text that renderers disagree on.
func TestCodeKeepsPipes(t *testing.T) {
	for _, text := range []string{`a|b`, `a\|b`, `a\\|b`, "`|`", ""} {
		row := "| " + report.Code(text) + " |"
		if pairs, single := pipes(row); pairs != 2 || single != 2 {
			t.Errorf("%q: %d or %d pipes in %s", text, pairs, single, row)
		}
	}
}
