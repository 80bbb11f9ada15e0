package locktest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/locktest"
	"github.com/lockbench/lockbench/scenarios"
)

// in plays tests as child does, in a directory.
func in(t *testing.T, dir, run string, args ...string) (output string, passed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run", run}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// TestExploreAndReplay: what a search finds lies in a file, which breaks the lock again, and not another one.
func TestExploreAndReplay(t *testing.T) {
	dir := t.TempDir()
	if out, passed := in(t, dir, "^TestReplayed$", "-test.v"); !passed || !strings.Contains(out, "--- SKIP") {
		t.Errorf("without schedules: passed %v, want a skip\n%s", passed, out)
	}
	out, passed := in(t, dir, "^TestExplored$")
	if passed {
		t.Fatalf("nothing was found:\n%s", out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "lockbench", "*.schedule"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v, want schedules\n%s", files, err, out)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scenarios.Parse(string(src)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if out, passed := in(t, dir, "^TestReplayed$"); passed {
		t.Errorf("the lock is broken still, and passed\n%s", out)
	}
	if out, passed := in(t, dir, "^TestReplayedSound$", "-test.v"); !passed || !strings.Contains(out, "--- PASS: TestReplayedSound/") {
		t.Errorf("a sound lock: passed %v\n%s", passed, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "testdata", "lockbench", "torn.schedule"), []byte("lockbench schedule 1\nA dances\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, passed := in(t, dir, "^TestReplayedSound$/^torn$"); passed {
		t.Errorf("a file that is no schedule passed\n%s", out)
	}
}

// FuzzSound plays its programs in fair weather, and what go test -fuzz chooses: no schedule may accuse a sound lock.
func FuzzSound(f *testing.F) { locktest.Fuzz(f, of(sound)) }
