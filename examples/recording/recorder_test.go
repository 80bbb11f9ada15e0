package recording_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/examples/recording"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// accepted checks that a history is one that lockbench judges, with acquires, extends, releases
// and all outcomes, of which exclusion is as wanted.
func accepted(t *testing.T, text []byte, want checker.Verdict) {
	t.Helper()
	events, err := histories.ReadJSONL(bytes.NewReader(text), "history.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	report := checker.Check(t.Context(), events, checker.Options{})
	if got := report.Result(checker.StrictExclusion); len(report.HarnessErrors) > 0 || got.Verdict != want {
		t.Errorf("exclusion is %v, want %v: %v %s\n%s", got.Verdict, want, report.HarnessErrors, got.Story, text)
	}
	seen := map[string]bool{}
	for _, e := range events {
		seen[e.Type.String()], seen[string(e.F)] = true, true
	}
	for _, what := range []string{"invoke", "ok", "fail", "info", "acquire", "extend", "release"} {
		if !seen[what] {
			t.Errorf("no %s was recorded:\n%s", what, text)
		}
	}
}

// lesson plays two clients, of which the second gets the lock as soon as the first has given it
// back, or, if it is broken, before.
func lesson(out *bytes.Buffer, broken bool) error {
	began := time.Now()
	r := &recording.Recorder{Out: out, Now: func() time.Duration { return time.Since(began) }}
	yes := func() (bool, error) { return true, nil }
	no := func() (bool, error) { return false, nil }
	lost := func() (bool, error) { return false, errors.New("no answer") }
	a, _, err := r.Do(0, "acquire", `k"1`, 0, time.Minute, yes)
	second := no
	if broken {
		second = yes
	}
	_, _, err2 := r.Do(1, "acquire", `k"1`, 0, time.Minute, second)
	_, _, err3 := r.Do(0, "extend", `k"1`, a, time.Minute, yes)
	_, _, err4 := r.Do(0, "release", `k"1`, a, 0, yes)
	_, _, _ = r.Do(1, "acquire", `k"1`, 0, time.Minute, lost) // its outcome is what is recorded
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() { _, _, _ = r.Do(worker, "acquire", "other", 0, 0, no) })
	}
	all.Wait()
	return errors.Join(err, err2, err3, err4)
}

func TestGo(t *testing.T) {
	for broken, want := range map[bool]checker.Verdict{false: checker.Pass, true: checker.Fail} {
		var out bytes.Buffer
		if err := lesson(&out, broken); err != nil {
			t.Fatal(err)
		}
		accepted(t, out.Bytes(), want)
	}
}

const python = `
import sys
from recorder import Recorder
r = Recorder("history.jsonl")
def lost(): raise TimeoutError
_, a = r.do(0, "acquire", 'k"1', lambda: True, ttl=60)
r.do(1, "acquire", 'k"1', lambda: len(sys.argv) > 1, ttl=60)
r.do(0, "extend", 'k"1', lambda: True, attempt=a, ttl=60)
r.do(0, "release", 'k"1', lambda: True, attempt=a)
try: r.do(1, "acquire", 'k"1', lost, ttl=60)
except TimeoutError: pass
r.do(2, "acquire", 'k"1', lambda: False)
`

const java = `
public class Main {
    public static void main(String[] args) throws Exception {
        Recorder r = new Recorder("history.jsonl");
        long a = r.call(0, "acquire", "k\"1", 0, 60_000_000_000L, () -> true).attempt();
        r.call(1, "acquire", "k\"1", 0, 60_000_000_000L, () -> args.length > 0);
        r.call(0, "extend", "k\"1", a, 60_000_000_000L, () -> true);
        r.call(0, "release", "k\"1", a, 0, () -> true);
        try { r.call(1, "acquire", "k\"1", 0, 0, () -> { throw new Exception("no answer"); }); } catch (Exception e) { }
        r.call(2, "acquire", "k\"1", 0, 0, () -> false);
    }
}`

// TestOthers runs the recorders of other languages where these are installed.
func TestOthers(t *testing.T) {
	effort.Real(t)
	for _, l := range []struct{ language, recorder, name, text, build, run, missing string }{
		{"python", "recorder.py", "main.py", python, "", "python3 main.py", "no Python"},
		{"java", "Recorder.java", "Main.java", java, "javac Recorder.java Main.java", "java Main", "optional: no JDK"},
	} {
		t.Run(l.language, func(t *testing.T) {
			if _, err := exec.LookPath(strings.Fields(l.build + " " + l.run)[0]); err != nil {
				t.Skipf("%s: %v", l.missing, err)
			}
			dir := t.TempDir()
			recorder, err := os.ReadFile(l.recorder)
			if err := errors.Join(err, os.WriteFile(filepath.Join(dir, l.recorder), recorder, 0o644), os.WriteFile(filepath.Join(dir, l.name), []byte(l.text), 0o644)); err != nil {
				t.Fatal(err)
			}
			do := func(command string) {
				words := strings.Fields(command)
				cmd := exec.Command(words[0], words[1:]...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
			if l.build != "" {
				do(l.build)
			}
			for arg, want := range map[string]checker.Verdict{"": checker.Pass, "broken": checker.Fail} {
				do(l.run + " " + arg)
				text, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				accepted(t, text, want)
			}
		})
	}
}
