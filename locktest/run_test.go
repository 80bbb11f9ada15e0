package locktest_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// childEnv makes the test binary play the tests of locks under test, most of which must fail.
const childEnv = "LOCKTEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	var tests []testing.InternalTest
	for name, f := range children() {
		tests = append(tests, testing.InternalTest{Name: name, F: f})
	}
	slices.SortFunc(tests, func(a, b testing.InternalTest) int { return cmp.Compare(a.Name, b.Name) })
	testing.Main(regexp.MatchString, tests, nil, nil)
}

// child plays tests in a process of their own, as a user's go test would.
func child(t *testing.T, run string, args ...string) (output, artifacts string, passed bool) {
	t.Helper()
	artifacts = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run", run, "-test.artifacts", "-test.outputdir", artifacts}, args...)...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), artifacts, err == nil
}

// TestSoundLockPasses: of a sound lock nothing is said but what no lock of its class survives.
func TestSoundLockPasses(t *testing.T) {
	for _, name := range []string{"TestSound", "TestSoundByInterfaces"} {
		out, _, passed := child(t, "^"+name+"$", "-test.v")
		if !passed || strings.Count(out, "--- PASS: "+name+"/P") < 30 || !strings.Contains(out, "P14 failover-async-repl") {
			t.Errorf("%s: passed %v, want at least 30 scenarios that pass, and P14 told as one that no lock of the class survives\n%s", name, passed, out)
		}
	}
}

// TestBrokenLocksAreCaught: each lock fails under the scenario that is about its flaw, by the cause that it has, and the failure
// begins with that cause.
func TestBrokenLocksAreCaught(t *testing.T) {
	for _, tt := range []struct {
		test, scenario string
		cause          checker.CauseKind
	}{
		{"TestBareDel", "P08_get-del-race", checker.ReleasedAnothers},
		{"TestNoExpiry", "P01_crash-no-ttl", checker.NoExpiry},
		{"TestNoNX", "P03_exists-then-set", checker.Overwritten},
		{"TestExtendUnchecked", "P69_extend-foreign-key", checker.ExtendedAnothers},
		{"TestRenewalOutlivesRelease", "P27_late-set-after-cleanup", checker.KeptRenewing},
		{"TestTokenReused", "P62_unlock-always-true", checker.ReleasedAnothers},
	} {
		t.Run(tt.test, func(t *testing.T) {
			out, dir, passed := child(t, "^"+tt.test+"$/^"+tt.scenario+"$")
			if passed {
				t.Fatalf("it passed:\n%s", out)
			}
			causes := recorded(t, dir)
			if len(causes) == 0 || !slices.ContainsFunc(causes, func(c checker.Cause) bool { return c.Kind == tt.cause }) {
				t.Fatalf("causes %+v, want one that is %s\n%s", causes, tt.cause, out)
			}
			_, told, _ := strings.Cut(out, "_test.go:")
			first, rest, _ := strings.Cut(told, "\n")
			second, _, _ := strings.Cut(rest, "\n")
			if !slices.ContainsFunc(causes, func(c checker.Cause) bool { return c.Kind == tt.cause && strings.Contains(first, c.Sentence) }) {
				t.Errorf("the failure begins with %q, want a cause that is %s", first, tt.cause)
			}
			if !strings.Contains(second, strings.ReplaceAll(tt.scenario, "_", " ")) {
				t.Errorf("its second line is %q, want the scenario", second)
			}
		})
	}
}

// recorded are the causes in the artifacts of a test, which must be whole.
func recorded(t *testing.T, dir string) (causes []checker.Cause) {
	t.Helper()
	kept := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		kept[strings.TrimLeft(filepath.Ext(path), ".")]++
		if e.Name() != histories.ResultsFile {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var j checker.Judgement
		if err := json.Unmarshal(data, &j); err != nil {
			return err
		}
		causes = append(causes, j.Causes...)
		_, err = histories.ReadFile(filepath.Dir(path), false)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept["html"] == 0 || kept["schedule"] == 0 || kept["jsonl"] < 2 {
		t.Errorf("kept %v, want a page, a schedule, a history and commands", kept)
	}
	return causes
}

// TestAccept: what is accepted fails nothing, and fails as soon as it is not found, or is not known at all.
func TestAccept(t *testing.T) {
	for _, tt := range []struct {
		test, run string
		passes    bool
	}{
		{"TestAccepted", "P08", true},              // the lock's own fault
		{"TestAccepted", "P14", true},              // what no lock of its class survives
		{"TestAccepted", "contract", true},         // a clause
		{"TestAcceptedInVain", "P08", false},       // the lock is sound
		{"TestAcceptedInVain", "contract", false},  // it keeps the clause
		{"TestAcceptedUnknown", "contract", false}, // there is no such scenario
		{"TestSound", "P08|P14|contract", true},    // nothing is accepted
		{"TestBareDel", "contract/foreign", false}, // nothing is accepted
	} {
		out, _, passed := child(t, "^"+tt.test+"$/"+tt.run)
		if passed != tt.passes {
			t.Errorf("%s/%s: passed %v, want %v\n%s", tt.test, tt.run, passed, tt.passes, out)
		}
	}
}

// TestTraps: what breaks a bubble is told in a sentence, and ends neither the process nor the patience of who waits.
func TestTraps(t *testing.T) {
	for _, tt := range []struct{ test, run, wanted string }{
		{"TestInsideOfBubble", "", "synctest"},
		{"TestIgnoresContext", "/P67", "did not return within"},
		{"TestMutexAcrossCall", "", "sync.Mutex"},
		{"TestGoroutineOutlives", "/P07", "Close()"},
		{"TestNoLock", "", "Lock.New"},
		{"TestPanics", "/P07", "a release that panics"},
		{"TestOwnSocket", "", "World.Dial"},
		{"TestWaits", "", "locks.Patient"},
		{"TestRetries", "", "locks.Patient"},
	} {
		if testing.Short() && tt.test == "TestMutexAcrossCall" { // which is noticed after 5 s, and they are real
			continue
		}
		out, _, passed := child(t, "^"+tt.test+"$"+tt.run, "-test.v")
		if passed != (tt.test == "TestGoroutineOutlives") || !strings.Contains(out, tt.wanted) {
			t.Errorf("%s: passed %v, want %q in\n%s", tt.test, passed, tt.wanted, out)
		}
	}
}

// TestFlags: go test does with subtests what it does with any.
func TestFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-test.short"}, {"-test.count=3"}, {"-test.shuffle=on"}, {"-test.failfast"}, {"-test.parallel=1"}, {"-test.v=test2json"},
	} {
		if out, _, passed := child(t, "^TestSound$/^(P07|P08|contract)", args...); !passed {
			t.Errorf("%v: %s", args, out)
		}
	}
	out, _, passed := child(t, "^TestSound$", "-lockbench.backend=nowhere")
	if passed || !strings.Contains(out, "nowhere") {
		t.Errorf("an unknown backend: passed %v\n%s", passed, out)
	}
	if flag.Lookup("lockbench.backend") == nil {
		t.Error("there is no flag -lockbench.backend")
	}
}
