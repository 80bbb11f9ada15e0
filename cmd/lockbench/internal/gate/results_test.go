package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/joshdk/go-junit"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/scenarios"
)

type verdicts = map[checker.Property]checker.Verdict

// written is what Marshal writes, read again.
func written(t testing.TB, res gate.Results) gate.Results {
	t.Helper()
	data, err := res.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "gate.json")
	if err := gate.WriteFile(file, data); err != nil {
		t.Fatal(err)
	}
	back, err := gate.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestJSON(t *testing.T) {
	res := play(t, gate.Options{Runs: 2, Run: spoiled("setnx-px-lua", verdicts{checker.Ownership: checker.Fail})})
	if diff := cmp.Diff(res, written(t, res), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	file := filepath.Join(t.TempDir(), "other.json")
	for content, want := range map[string]string{
		"{}":            `"schema" is 0, want 1`,
		"[]":            "want the results of lockbench gate --json",
		`{"schema": 7}`: `"schema" is 7, want 1`,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := gate.Read(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
	if _, err := gate.Read(file + "x"); !gate.Missing(err) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// parts plays the shards of a plan and writes and reads each.
func parts(t testing.TB, opt gate.Options, n int) []gate.Part {
	t.Helper()
	var all []gate.Part
	for i := range n {
		opt.Shard = gate.Shard{Index: i + 1, Of: n}
		all = append(all, gate.Part{File: opt.Shard.String(), Results: written(t, play(t, opt))})
	}
	return all
}

// TestMergedIsWhole plays the real catalogue in three shards.
func TestMergedIsWhole(t *testing.T) {
	opt := gate.Options{Seed: 7, Runs: 2, Version: "v1", Only: []string{"P02", "P07", "P08", "P11", "P14"}}
	whole := play(t, opt)
	all := parts(t, opt, 3)
	merged, err := gate.Merge([]gate.Part{all[2], all[0], all[1]})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, merged, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestMergeRefuses(t *testing.T) {
	opt := gate.Options{Version: "v1", Seed: 1, Run: pretend(nil)}
	good := parts(t, opt, 3)
	change := func(f func(*gate.Options)) gate.Part {
		other := opt
		f(&other)
		return parts(t, other, 3)[1]
	}
	cut := good[1]
	cut.Rows = cut.Rows[:len(cut.Rows)-1]
	twice := good[1]
	twice.Rows = append(twice.Rows[:len(twice.Rows)-1:len(twice.Rows)-1], good[0].Rows[0])
	for name, tc := range map[string]struct {
		parts []gate.Part
		want  string
	}{
		"nothing":       {nil, "nothing to merge"},
		"missing":       {[]gate.Part{good[0], good[2]}, "missing of 3 shards: 2/3"},
		"twice":         {[]gate.Part{good[0], good[1], good[1], good[2]}, "are both shard 2/3"},
		"cut short":     {[]gate.Part{good[0], cut, good[2]}, "shard 2/3 was cut short after"},
		"overlap":       {[]gate.Part{good[0], twice, good[2]}, "overlap: both have"},
		"version":       {[]gate.Part{good[0], change(func(o *gate.Options) { o.Version = "v2" }), good[2]}, `the version of lockbench is "v2", and in 1/3 it is "v1"`},
		"seed":          {[]gate.Part{good[0], change(func(o *gate.Options) { o.Seed = 2 }), good[2]}, `the seed is "2"`},
		"runs":          {[]gate.Part{good[0], change(func(o *gate.Options) { o.Runs = 2 }), good[2]}, `the number of runs is "2"`},
		"selection":     {[]gate.Part{good[0], change(func(o *gate.Options) { o.Only = []string{"P0*"} }), good[2]}, "the selection is"},
		"another plan":  {[]gate.Part{good[0], change(func(o *gate.Options) { o.Catalogue = scenarios.All()[1:] }), good[2]}, "the plan is"},
		"other slicing": {[]gate.Part{good[0], parts(t, opt, 4)[1], good[2]}, "the number of shards is"},
		"no shards":     {[]gate.Part{{File: "x", Results: gate.Results{Shard: gate.Shard{Index: 1, Of: -5}}}}, "x: it is shard 1/-5, want one of 1 to 10000 shards"},
		"backend":       {[]gate.Part{good[0], change(func(o *gate.Options) { o.Backend = harness.Process() }), good[2]}, "the backend is"},
	} {
		if _, err := gate.Merge(tc.parts); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestBaseline(t *testing.T) {
	only := []string{"P02", "P07"}
	bad := play(t, gate.Options{Only: only, Run: spoiled("setnx-px-lua", verdicts{checker.Ownership: checker.Fail, checker.DeadlockFreedom: checker.Unknown})})
	worse := play(t, gate.Options{Only: only, Run: spoiled("setnx-px-lua", verdicts{checker.Ownership: checker.Fail, checker.DeadlockFreedom: checker.Fail})})
	mended := play(t, gate.Options{Only: only, Run: pretend(nil)})
	elsewhere := play(t, gate.Options{Only: []string{"P02"}, Run: pretend(nil)})

	known := gate.Baseline{}.Accept(bad)
	if len(known.Findings) != 2 {
		t.Fatalf("known: %+v", known)
	}
	for name, tc := range map[string]struct {
		res  gate.Results
		want gate.Outcome
	}{
		"the same":                      {bad, gate.Expected},
		"doubt that became a violation": {worse, gate.Unexpected},
		"mended":                        {mended, gate.Expected},
	} {
		if got := tc.res.Outcome(known); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	if gone := known.Gone(mended); len(gone) != 2 {
		t.Errorf("mended: %v is gone", gone)
	}
	if gone := known.Gone(elsewhere); len(gone) != 0 {
		t.Errorf("P07 was not played, and %v is called gone", gone)
	}
	if after := known.Accept(mended); len(after.Findings) != 0 {
		t.Errorf("accepted of a mended lock: %v", after)
	}
	if after := known.Accept(elsewhere); len(after.Findings) != 2 {
		t.Errorf("P07 was not played, and its findings are %v", after)
	}
	one := play(t, gate.Options{Only: only, FailOn: []checker.Property{checker.Ownership}, Run: pretend(nil)})
	if after := known.Accept(one); len(after.Findings) != 1 || after.Findings[0].Property != checker.DeadlockFreedom {
		t.Errorf("deadlock freedom was not looked at, and what is known is %v", after)
	}

	broken := play(t, gate.Options{Only: only, Run: pretend(func(cfg harness.Config, _ map[checker.Property]checker.Verdict) error {
		if cfg.Pitfall == "P07" {
			return os.ErrDeadlineExceeded
		}
		return nil
	})})
	if got := broken.Outcome(known.Accept(broken)); got != gate.Failed {
		t.Errorf("a failure of the harness was accepted: %v", got)
	}

	lock, err := libraries.Catalogue().Find("setnx-px-lua")
	if err != nil {
		t.Fatal(err)
	}
	own := func(run func(context.Context, harness.Config) (harness.Result, error)) gate.Results {
		return play(t, gate.Options{Only: only, Subject: &gate.Subject{Lock: lock}, Run: run})
	}
	known = gate.Baseline{}.Accept(own(spoiled("setnx-px-lua", verdicts{checker.Ownership: checker.Fail})))
	unjudged := own(pretend(func(harness.Config, map[checker.Property]checker.Verdict) error {
		return &player.StepError{N: 1, Step: schedule.Step{Verb: schedule.Audit}, Err: errors.New("it does not")}
	}))
	if gone := known.Gone(unjudged); len(gone) != 0 {
		t.Errorf("nothing was judged, and %v is called gone", gone)
	}
	if after := known.Accept(unjudged); !slices.Contains(after.Findings, known.Findings[0]) {
		t.Errorf("nothing was judged, and %v was forgotten: %v", known.Findings, after.Findings)
	}
	if gone := known.Accept(unjudged).Gone(own(pretend(nil))); len(gone) != len(only)+1 {
		t.Errorf("all is well, and only %v is gone", gone)
	}

	data, err := known.Marshal()
	if err != nil || !json.Valid(data) {
		t.Fatalf("%v\n%s", err, data)
	}
	file := filepath.Join(t.TempDir(), "baseline.json")
	if err := gate.WriteFile(file, data); err != nil {
		t.Fatal(err)
	}
	back, err := gate.ReadBaseline(file)
	if diff := cmp.Diff(known, back); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := gate.ReadBaseline(file + "x"); err == nil || !strings.Contains(err.Error(), "--update-baseline creates it") {
		t.Errorf("a baseline that is not there: %v", err)
	}
}

// TestJUnit reads the XML back with a parser that others use.
func TestJUnit(t *testing.T) {
	catalogue := scenarios.All()[:4]
	catalogue[0].Gaps = map[string]string{histories.BackendEmbedded: "it has no <time> machine"}
	res := play(t, gate.Options{Catalogue: catalogue, Runs: 2, Command: func(cfg harness.Config, _ string, _ time.Duration) string {
		return "lockbench run --scenario " + cfg.Name
	},
		Run: pretend(func(cfg harness.Config, v map[checker.Property]checker.Verdict) error {
			switch {
			case cfg.Pitfall == catalogue[1].ID && cfg.Seed == 0:
				v[checker.Ownership] = checker.Unknown
			case cfg.Pitfall == catalogue[2].ID && cfg.Seed == 1:
				return os.ErrDeadlineExceeded
			case cfg.Pitfall == catalogue[3].ID && cfg.Seed == 1:
				v[checker.DeadlockFreedom] = checker.Fail
			}
			return nil
		})})
	var b bytes.Buffer
	if err := res.JUnit(&b, gate.Baseline{}); err != nil {
		t.Fatal(err)
	}
	suites, err := junit.Ingest(b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	count := map[junit.Status]int{}
	tests := 0
	for _, s := range suites {
		for _, c := range s.Tests {
			tests++
			count[c.Status]++
			if c.Name == "" || c.Classname == "" {
				t.Errorf("a case without a name: %+v", c)
			}
			switch c.Status {
			case junit.StatusFailed, junit.StatusError:
				if c.Error == nil || c.Message == "" || !strings.Contains(c.Error.Error(), "lockbench run --scenario") {
					t.Errorf("%s says %q, %v", c.Name, c.Message, c.Error)
				}
			case junit.StatusSkipped:
				if c.Message != "it has no <time> machine" {
					t.Errorf("skipped without its reason: %q", c.Message)
				}
			}
		}
	}
	failed := 0
	for _, r := range res.Rows {
		if r.Outcome == gate.Unexpected || r.Outcome == gate.Unknown {
			failed++
		}
	}
	if tests != len(res.Rows)+1 || count[junit.StatusSkipped] != 1 || count[junit.StatusFailed] != failed || failed == 0 || count[junit.StatusError] == 0 {
		t.Errorf("%d cases for %d runs, %v, want %d failed\n%s", tests, len(res.Rows), count, failed, b.String())
	}
}

func TestMarkdown(t *testing.T) {
	res := play(t, gate.Options{Only: []string{"P07"}, Runs: 2, Command: func(harness.Config, string, time.Duration) string { return "lockbench run --worker '`x`|y'" },
		Run: spoiled("setnx-px-lua", verdicts{checker.Ownership: checker.Fail})})
	for i := range res.Rows {
		for j := range res.Rows[i].Judged {
			if !res.Rows[i].Judged[j].Met {
				res.Rows[i].Judged[j].Story = "A <b>held</b> a|b\n# and `c`\x1b[31m"
			}
		}
	}
	var b bytes.Buffer
	if err := res.Markdown(&b, gate.Baseline{}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"## ❌ lockbench gate\n", "**0 of 1 scenario as expected · 1 not**", "`setnx-px-lua`: violated: ownership, 2 of 2 seeds",
		"```sh\nlockbench run --worker '`x`|y'\n```", `> A &lt;b&gt;held&lt;/b&gt; a\|b \# and \` + "`c\\`",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b") || strings.Count(got, "<details>") != strings.Count(got, "</details>") {
		t.Errorf("not fit for a page: %q", got)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	for _, content := range []string{"old, and longer", "new"} {
		if err := gate.WriteFile(file, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := gate.WriteFile(link, []byte("through a link")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "through a link" {
		t.Errorf("%q, %v", got, err)
	}
	if err := gate.WriteFile(os.DevNull, []byte("x")); err != nil {
		t.Errorf("what is no file: %v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v now, %v", os.DevNull, info.Mode(), err)
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none", "file")} {
		if err := gate.CanWrite(bad); err == nil {
			t.Errorf("%s can be written", bad)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
