package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func goldenMeta() Meta {
	return Meta{
		Scenario: "get-del-race", Pitfall: "P08", Title: "Release reads, then deletes", Workload: "directed",
		Lock: "setnx-px-get-del", Guard: "none", Backend: "embedded", Topology: "1 master", Seed: 1, Clients: 3,
		TTL: 3 * time.Second, Started: time.Date(2026, 1, 2, 15, 4, 5, 67_000_000, time.FixedZone("CET", 3600)),
		Version: "v0.1.0", Replayable: true, Notes: []string{"a note"}, Command: "lockbench run --scenario get-del-race --seed 1",
	}
}

func create(t *testing.T, root string, meta Meta) *Dir {
	t.Helper()
	d, err := Create(root, meta)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// publish ends a run that has a verdict.
func publish(d *Dir, meta Meta) error {
	return errors.Join(d.Recorded(meta), d.Checked(meta, nil), d.Publish(meta))
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestDirPhases(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	meta := goldenMeta()
	d := create(t, root, meta)
	if want := filepath.Join(root, "get-del-race", "20260102T140405.067Z-1"); d.Path() != want {
		t.Fatalf("Path = %s, want %s", d.Path(), want)
	}

	// at expects what Load and a directory listing show in a phase.
	at := func(phase Phase, events []Event, names ...string) {
		t.Helper()
		got, loaded, err := Load(d.Path())
		if err != nil {
			t.Fatal(err)
		}
		want := meta
		want.Schema, want.Phase, want.Started = Schema, phase, meta.Started.UTC()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: meta (-want +got):\n%s", phase, diff)
		}
		if diff := cmp.Diff(events, loaded); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", phase, diff)
		}
		if diff := cmp.Diff(names, files(t, d.Path())); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", phase, diff)
		}
	}
	at(PhaseRunning, nil, EventsFile, RunFile)

	if err := d.Checked(meta, nil); err == nil || !strings.Contains(err.Error(), `is in phase "running", want "recorded"`) {
		t.Errorf("Checked before Recorded = %v", err)
	}
	r := NewRecorder(d.HistoryFile())
	r.Start(stopped)
	r.Record(Event{Type: Invoke, F: Acquire, Key: "k", Attempt: 1})
	wantErr(t, r.Close(), "")
	at(PhaseRunning, r.Events(), EventsFile, RunFile)

	meta.Notes = append(meta.Notes, "the clock went back twice")
	wantErr(t, d.Recorded(meta), "")
	at(PhaseRecorded, r.Events(), EventsFile, RunFile)
	if d.HistoryFile() != nil {
		t.Error("the history is still open")
	}
	wantErr(t, d.Recorded(meta), "run directory "+d.Path()+": the history is closed already")

	wantErr(t, d.WriteFile(CommandsFile, []byte("{}\n")), "")
	wantErr(t, d.Checked(meta, map[string]string{"verdict": "fail"}), "")
	at(PhaseChecked, r.Events(), CommandsFile, EventsFile, ResultsFile, RunFile)
	if got := read(t, d.Path(), ResultsFile); got != "{\n  \"verdict\": \"fail\"\n}\n" {
		t.Errorf("results.json is %s", got)
	}
	golden(t, "run.json", []byte(read(t, d.Path(), RunFile)))
	if info, err := os.Stat(filepath.Join(d.Path(), RunFile)); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("run.json: %v, %v; want mode 0644", info.Mode(), err)
	}
}

func TestDirFailedWriteLeavesNothing(t *testing.T) {
	d := create(t, t.TempDir(), goldenMeta())
	wantErr(t, d.Recorded(goldenMeta()), "")
	err := d.Checked(goldenMeta(), func() {})
	if _, ok := errors.AsType[*json.UnsupportedTypeError](err); !ok {
		t.Errorf("Checked = %v, want the encoder's error", err)
	}
	if err := os.Mkdir(filepath.Join(d.Path(), "page.html"), 0o755); err != nil {
		t.Fatal(err)
	}
	wantErr(t, d.WriteFile("page.html", nil), "cannot write "+filepath.Join(d.Path(), "page.html")+": file exists")
	if diff := cmp.Diff([]string{EventsFile, "page.html", RunFile}, files(t, d.Path())); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if meta, _, err := Load(d.Path()); err != nil || meta.Phase != PhaseRecorded {
		t.Errorf("phase %s, %v; want recorded", meta.Phase, err)
	}
}

func TestDirTwoRunsAtOnce(t *testing.T) {
	root := t.TempDir()
	const runs = 8
	paths := make([]string, runs)
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			d, err := Create(root, goldenMeta())
			if err != nil {
				t.Error(err)
				return
			}
			paths[i] = filepath.Base(d.Path())
			if err := publish(d, goldenMeta()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	const first = "20260102T140405.067Z-1"
	want := []string{first, first + "-2", first + "-3", first + "-4", first + "-5", first + "-6", first + "-7", first + "-8", Latest}
	scenario := filepath.Join(root, "get-del-race")
	if diff := cmp.Diff(want, files(t, scenario)); diff != "" {
		t.Errorf("directories (-want +got):\n%s", diff)
	}
	target, err := os.Readlink(filepath.Join(scenario, Latest))
	if err != nil || filepath.IsAbs(target) {
		t.Errorf("latest → %q, %v; want a relative link", target, err)
	}
	seen := make(map[string]bool)
	for _, p := range paths {
		seen[p] = true
	}
	if len(seen) != runs || !seen[target] {
		t.Errorf("paths %v, latest → %s", paths, target)
	}
}

func TestDirLatestFollowsTheNewestAndMoves(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	meta := goldenMeta()
	wantErr(t, publish(create(t, root, meta), meta), "")
	meta.Seed = 2
	wantErr(t, publish(create(t, root, meta), meta), "")
	moved := root + "-moved"
	if err := os.Rename(root, moved); err != nil {
		t.Fatal(err)
	}
	got, _, err := Load(filepath.Join(moved, "get-del-race", Latest))
	if err != nil || got.Seed != 2 {
		t.Errorf("seed %d, %v; want 2", got.Seed, err)
	}
}

func TestDirWithoutLatestIsANote(t *testing.T) {
	root := t.TempDir()
	// A directory in the link's place stands for a file system that cannot link.
	if err := os.MkdirAll(filepath.Join(root, "get-del-race", Latest), 0o755); err != nil {
		t.Fatal(err)
	}
	d := create(t, root, goldenMeta())
	wantErr(t, publish(d, goldenMeta()), "")
	got, _, err := Load(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a note", "latest was not updated: file exists"}, got.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{filepath.Base(d.Path()), Latest}, files(t, filepath.Join(root, "get-del-race"))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestDirLatestIsARunWithAVerdict checks that the link stays where it is while another run is
// written, and when that is given up.
func TestDirLatestIsARunWithAVerdict(t *testing.T) {
	root := t.TempDir()
	wantErr(t, publish(create(t, root, goldenMeta()), goldenMeta()), "")
	d := create(t, root, goldenMeta())
	for _, begin := range []func() error{
		func() error { return nil },
		func() error { return d.Recorded(goldenMeta()) },
		func() error { return d.Checked(goldenMeta(), nil) },
	} {
		wantErr(t, begin(), "")
		if d.phase != PhaseChecked {
			wantErr(t, d.Publish(goldenMeta()), fmt.Sprintf("run directory %s is in phase %q, want %q: latest is only ever a run with a verdict", d.Path(), d.phase, PhaseChecked))
		}
		if to, err := os.Readlink(filepath.Join(root, "get-del-race", Latest)); err != nil || to != "20260102T140405.067Z-1" {
			t.Errorf("in phase %s latest → %s, %v; want the first run", d.phase, to, err)
		}
	}
}

func TestDirDiscardLeavesNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "store")
	one, other := create(t, root, goldenMeta()), create(t, root, goldenMeta())
	wantErr(t, one.Discard(), "")
	if diff := cmp.Diff([]string{filepath.Base(other.Path())}, files(t, filepath.Dir(one.Path()))); diff != "" {
		t.Errorf("beside another run (-want +got):\n%s", diff)
	}
	wantErr(t, os.RemoveAll(other.Path()), "")
	last := create(t, root, goldenMeta())
	wantErr(t, last.Discard(), "")
	if diff := cmp.Diff([]string{"get-del-race"}, files(t, root)); diff != "" {
		t.Errorf("what was there before (-want +got):\n%s", diff)
	}

	fresh := filepath.Join(t.TempDir(), "deep", "store")
	wantErr(t, create(t, fresh, goldenMeta()).Discard(), "")
	if _, err := os.Stat(filepath.Dir(fresh)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want none", filepath.Dir(fresh), err)
	}
}

func TestDirGivenUpStaysRunning(t *testing.T) {
	d := create(t, t.TempDir(), goldenMeta())
	if _, err := d.HistoryFile().WriteString(soundLine("") + `{"index":1,"ti`); err != nil {
		t.Fatal(err)
	}
	wantErr(t, d.Close(), "")
	wantErr(t, d.Close(), "")
	meta, events, err := Load(d.Path())
	if meta.Phase != PhaseRunning || len(events) != 1 || !errors.Is(err, ErrTruncated) {
		t.Errorf("phase %s, %d events, %v; want running, 1 and ErrTruncated", meta.Phase, len(events), err)
	}
}

func TestScenarioNamesStayBelowRoot(t *testing.T) {
	tests := map[string]string{
		"get-del-race":           "get-del-race",
		"":                       "unnamed",
		".":                      "unnamed",
		"..":                     "unnamed",
		"../../etc/passwd":       "-..-etc-passwd",
		"/abs":                   "-abs",
		`C:\x`:                   "C--x",
		".hidden":                "hidden",
		"a b\x00\n锁":             "a-b---",
		strings.Repeat("x", 500): strings.Repeat("x", 100),
	}
	for name, want := range tests {
		outside := t.TempDir()
		root := filepath.Join(outside, "store")
		meta := goldenMeta()
		meta.Scenario = name
		d := create(t, root, meta)
		if got := filepath.Dir(d.Path()); got != filepath.Join(root, want) {
			t.Errorf("%q is kept in %s, want %s", name, got, want)
		}
		if diff := cmp.Diff([]string{"store"}, files(t, outside)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

func TestDirWriteFileNames(t *testing.T) {
	d := create(t, t.TempDir(), goldenMeta())
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "/x", "../x", "C:x", RunFile, "History.JSONL", ResultsFile} {
		err := d.WriteFile(name, nil)
		if err == nil || !strings.Contains(err.Error(), "want a plain file name") {
			t.Errorf("WriteFile(%q) = %v", name, err)
		}
	}
	wantErr(t, d.WriteFile("timeline.html", []byte("old, and longer")), "")
	wantErr(t, d.WriteFile("timeline.html", []byte("new")), "")
	if got := read(t, d.Path(), "timeline.html"); got != "new" {
		t.Errorf("the file holds %q", got)
	}
}

func TestCreateErrors(t *testing.T) {
	_, err := Create(t.TempDir(), Meta{Scenario: "x"})
	wantErr(t, err, "cannot create run directory: Meta.Started is not set")

	file := filepath.Join(t.TempDir(), "store")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Create(file, goldenMeta())
	wantErr(t, err, `cannot create run directory under "`+file+`": not a directory; choose another with --out`)

	// Root may write anywhere, so the refusal itself is made up.
	err = createError("store", &fs.PathError{Op: "mkdir", Path: "store/x", Err: syscall.EACCES})
	wantErr(t, err, `cannot create run directory under "store": permission denied; choose another with --out`)
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v does not wrap fs.ErrPermission", err)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, RunFile)
	_, _, err := Load(dir)
	wantErr(t, err, "open "+run+": no such file or directory; want a run directory such as store/<scenario>/latest")

	tests := []struct{ content, want string }{
		{`{"schema":1`, run + ": unexpected end of JSON input; want the description of a run as lockbench writes it"},
		{`{"schema":2,"version":"v9"}`, run + `: "schema" is 2, want 1: another version of lockbench ("v9") wrote it`},
		{`{}`, run + `: "schema" is 0, want 1: another version of lockbench ("") wrote it`},
		{`{"schema":1}`, "cannot read the history: open " + filepath.Join(dir, EventsFile) + ": no such file or directory"},
	}
	for _, tt := range tests {
		if err := os.WriteFile(run, []byte(tt.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := Load(dir)
		wantErr(t, err, tt.want)
	}
	_, _, err = Load(run)
	wantErr(t, err, run+" is a file, want a run directory such as store/<scenario>/latest")
}
