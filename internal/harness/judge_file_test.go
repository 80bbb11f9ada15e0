package harness_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// exclusion is what can be judged of a file without holding it.
func exclusion() []checker.Property {
	return []checker.Property{checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured}
}

func corpus(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../checker/testdata/*.jsonl")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// TestJudgeFile checks that a file that is judged as it is read is judged as one that is held
// in memory, and that the events of the witnesses are found.
func TestJudgeFile(t *testing.T) {
	failed := 0
	for _, path := range corpus(t) {
		file, err := histories.ReadFile(path, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := harness.JudgeFile(t.Context(), path, harness.Judging{Properties: exclusion()})
		if err != nil {
			t.Fatal(err)
		}
		want := harness.Judge(t.Context(), file.Events, nil, nil, nil).Only(exclusion()...)
		if diff := cmp.Diff(want, got.Report, cmpopts.IgnoreFields(checker.Result{}, "Took")); diff != "" {
			t.Errorf("%s (-whole +streamed):\n%s", path, diff)
		}
		if got.Count != len(file.Events) || got.Events != nil {
			t.Errorf("%s: counted %d events of %d, kept %d", path, got.Count, len(file.Events), len(got.Events))
		}
		for _, res := range got.Report.Results {
			for _, i := range res.Witness {
				failed++
				if got.Cited[i] != file.Events[i] {
					t.Errorf("%s: event %d is %v, want %v", path, i, got.Cited[i], file.Events[i])
				}
			}
		}
	}
	if failed == 0 {
		t.Error("no witness was told")
	}
}

// What was not asked for is not judged, and nothing is said of it.
func TestJudgeFileOnly(t *testing.T) {
	for _, path := range corpus(t) {
		all, err := harness.JudgeFile(t.Context(), path, harness.Judging{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range checker.Properties() {
			if p == checker.Linearizability {
				continue
			}
			got, err := harness.JudgeFile(t.Context(), path, harness.Judging{Properties: []checker.Property{p}})
			if err != nil {
				t.Fatal(err)
			}
			want := all.Report.Only(p)
			if diff := cmp.Diff(want, got.Report, cmpopts.IgnoreFields(checker.Result{}, "Took")); diff != "" {
				t.Errorf("%s, %s (-of all +alone):\n%s", path, p, diff)
			}
		}
	}
}

// Lines that are not sound are left out, counted, and told with their places; the events
// behind them have new numbers, in both looks at the file. What was left out between the
// events of a witness takes its certainty away.
func TestJudgeFileLeniently(t *testing.T) {
	const name = "mutual-exclusion-bad-failover.jsonl"
	text, err := os.ReadFile("../../checker/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := harness.JudgeFile(t.Context(), "../../checker/testdata/"+name, harness.Judging{Properties: exclusion()})
	if err != nil {
		t.Fatal(err)
	}
	witness := sound.Report.Result(checker.StrictExclusion).Witness
	lines := strings.SplitAfter(string(text), "\n")
	with := func(bad string, before int) string {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		damaged := strings.Join(lines[:before], "") + bad + "\n" + strings.Join(lines[before:], "")
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}

	for bad, want := range map[string]string{
		"{broken": "byte 2: invalid character 'b' looking for beginning of object key string, want one JSON object per line",
		`{"index":7,"time":1,"process":0,"worker":0,"type":"okay","f":"acquire"}`: `"type" is "okay", want invoke, ok, fail or info`,
		`{"index":7}`: `"time" is missing`,
	} {
		path := with(bad, 0)
		var line *histories.LineError
		if _, err := harness.JudgeFile(t.Context(), path, harness.Judging{Properties: exclusion()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", bad, err, want)
		}
		got, err := harness.JudgeFile(t.Context(), path, harness.Judging{Lenient: true, Properties: exclusion()})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Skipped) != 1 {
			t.Fatalf("%s: skipped %v", bad, got.Skipped)
		}
		line = got.Skipped[0]
		if line.File != path || line.Line != 1 || line.Err.Error() != want || got.Count != sound.Count {
			t.Errorf("%s: %d events, skipped %v", bad, got.Count, line)
		}
		res := got.Report.Result(checker.StrictExclusion)
		if diff := cmp.Diff(witness, res.Witness); diff != "" || res.Verdict != checker.Fail {
			t.Errorf("%s: %v %s", bad, res, diff)
		}
		for _, i := range witness {
			if got.Cited[i] != sound.Cited[i] {
				t.Errorf("%s: event %d is %v, want %v", bad, i, got.Cited[i], sound.Cited[i])
			}
		}
	}

	got, err := harness.JudgeFile(t.Context(), with("{broken", witness[1]), harness.Judging{Lenient: true, Properties: exclusion()})
	if err != nil {
		t.Fatal(err)
	}
	if res := got.Report.Result(checker.StrictExclusion); res.Verdict != checker.Unknown || !strings.Contains(res.Story, "1 place") {
		t.Errorf("with a gap in its witness: %+v", res)
	}

	// The last line tells of the violation, if it can be read.
	grant := lines[witness[1]]
	for last, want := range map[string]checker.Verdict{
		grant: checker.Fail, strings.Replace(grant, `"ok"`, `"okay"`, 1): checker.Unknown, grant[:len(grant)/2]: checker.Unknown,
	} {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines[:witness[1]], "")+last), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := harness.JudgeFile(t.Context(), path, harness.Judging{Lenient: true, Properties: exclusion()})
		if err != nil {
			t.Fatal(err)
		}
		if res := got.Report.Result(checker.StrictExclusion); res.Verdict != want {
			t.Errorf("last line %q: %+v, want %v", last, res, want)
		}
	}
}

func TestJudgeFileInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	var file bytes.Buffer
	for i := range 10_000 {
		e := histories.Event{Index: i, Time: time.Duration(i), Process: histories.Nemesis, Worker: histories.Nemesis, F: histories.Audit}
		if err := histories.WriteJSONL(&file, []histories.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if j, err := harness.JudgeFile(ctx, path, harness.Judging{Properties: exclusion()}); err == nil || j.Count >= 10_000 {
		t.Errorf("%d events were read, %v", j.Count, err)
	}
}
