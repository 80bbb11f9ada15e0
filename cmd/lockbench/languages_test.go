package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/examples"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestFirstGate begins with a lock in each language and does what its README says, and nothing
// else: the first gate is green. A change plays two scenarios with two of the languages; that the
// loop of each works is tested beside it.
func TestFirstGate(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t)
	for _, l := range examples.Languages() {
		if !effort.Nightly() && l.Name != "python" && l.Name != "node" {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			locktest.NeedLanguage(t, l.Name)
			dir := t.TempDir()
			var out, stderr bytes.Buffer
			if code := run(t.Context(), []string{"init", l.Name, dir}, &out, &stderr); code != exitExpected {
				t.Fatalf("init: exit code %d\n%s", code, stderr.Bytes())
			}
			command := commandOf(t, filepath.Join(dir, "README.md"))
			if !effort.Nightly() {
				command += " --only P07,P62"
			}
			if l.Name == "go" {
				modules(t, dir)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			cmd.Dir = dir
			if l.Name == "python" {
				cmd.Env = append(os.Environ(), "PATH="+pythonOnPath(t)+":"+os.Getenv("PATH"))
			}
			page, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(page, []byte("Verdict: the lock keeps what a lock of its class can keep.")) {
				t.Errorf("%s: %v\n%s", command, err, page)
			}
		})
	}
}

// commandOf is what a README tells to type.
func commandOf(t *testing.T, readme string) string {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllSubmatch(data, -1)
	if len(lines) != 1 {
		t.Fatalf("the README tells to type %d lines, want one:\n%s", len(lines), data)
	}
	return string(lines[0][1])
}

// modules skips a test where the modules that a project needs cannot be had.
func modules(t *testing.T, dir string) {
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no way to the modules of the project: %s", strings.TrimSpace(string(out)))
	}
}

// pythonOnPath is a directory in which python3 is one that has redis-py.
func pythonOnPath(t *testing.T) string {
	python, err := exec.LookPath(locktest.NeedPythonRedis(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(python, filepath.Join(dir, "python3")); err != nil {
		t.Fatal(err)
	}
	return dir
}
