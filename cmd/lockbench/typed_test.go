package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestCommandsOfPages types what README.md and the pages of docs tell to type, page by page and in their order, where what the pages speak of
// is at hand, and wants a verdict of each. By day it leaves out what takes long. TestCourseCommandsRun does so with the course.
func TestCommandsOfPages(t *testing.T) {
	effort.Long(t)
	locktest.NeedRedis(t)
	python := locktest.NeedPythonRedis(t)
	n := 0
	for _, page := range englishPages(t) {
		lines := typed(t, page)
		if len(lines) == 0 {
			continue
		}
		n += len(lines)
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			desk := newDesk(t, python)
			for _, line := range lines {
				if !takesLong.MatchString(line) || effort.Nightly() && !strings.HasPrefix(line, "make ") { // make test is what runs this
					desk.types(t, line)
				}
			}
		})
	}
	if n < 50 {
		t.Errorf("the pages tell to type %d commands, want 50 at least", n)
	}
}

// takesLong finds what goes through the whole catalogue, or searches for a minute.
var takesLong = regexp.MustCompile(`lockbench (gate|matrix)$|gate (--runs|--worker|--backend)|--runs 20|--budget|--explore|explore (fenced|setnx)|margins .* |workload contend|^make `)

// desk is where a reader of the pages types: a directory and its environment.
type desk struct {
	dir string
	env []string
}

// newDesk returns one that has the examples, a run in its store, a history of Jepsen's, an application's log, and a worker of one's own.
func newDesk(t *testing.T, python string) desk {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	d := desk{dir: t.TempDir()}
	d.env = append(os.Environ(), "GORACE="+quickExit, storeVariable+"=store", "ROOT="+root, "PATH="+filepath.Join(d.dir, "bin")+":"+os.Getenv("PATH"))
	log := regexp.MustCompile("(?s)```csv\n(.*?)```").FindStringSubmatch(readText(t, "../../docs/recording.md"))[1]
	if err := os.WriteFile(filepath.Join(d.dir, "calls.csv"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"gzip -k calls.csv && ln -s $ROOT/internal $ROOT/examples .",
		"echo '{:index 0, :time 0, :type :invoke, :process 0, :f :write, :value 1} {:index 1, :time 9, :type :ok, :process 0, :f :write, :value 1}' > history.edn",
		"mkdir bin && ln -s $(command -v " + python + ") bin/python3",
		"lockbench run --scenario failover-async-repl && cp store/failover-async-repl/latest/history.jsonl .",
		"lockbench init python own && cp own/* .",
	} {
		d.types(t, line)
	}
	return d
}

// elsewhere are the places that pages name outside the directory, and what a server in the foreground is ended by.
var elsewhere = strings.NewReplacer("/etc/bash_completion.d/", "", "/path/to/valkey-server", "redis-server", "my/valkey", "lockbench/redis:7", "lockbench serve", "timeout -s INT 2 lockbench serve")

// types gives a line to a shell, and wants that it ends in a verdict, or well.
func (d desk) types(t *testing.T, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", elsewhere.Replace(line))
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code < 0 || code > exitUnknown && !strings.HasPrefix(line, "lockbench serve") {
		t.Errorf("%s: exit code %d, %v\n%s", line, code, err, out)
	}
}
