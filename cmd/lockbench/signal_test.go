//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// hangs is when a test gives up waiting. Nothing depends on how fast things are.
const hangs = 5 * time.Minute

// child is a lockbench of its own, with directories of its own.
type child struct {
	*exec.Cmd
	dir, tmp       string
	stdout, stderr bytes.Buffer
	ended          chan struct{} // closed when it has ended
}

func newChild(t *testing.T, args ...string) *child { return childOf(t, "lockbench", args...) }

// childOf is a child that is another program.
func childOf(t *testing.T, program string, args ...string) *child {
	c := &child{Cmd: exec.Command(program, args...), dir: t.TempDir(), tmp: t.TempDir(), ended: make(chan struct{})}
	c.Dir, c.Env = c.dir, append([]string{"GORACE=" + quickExit}, append(os.Environ(), "TMPDIR="+c.tmp, storeVariable+"=")...)
	c.Stdout, c.Stderr = &c.stdout, &c.stderr
	return c
}

func (c *child) start(t *testing.T) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // the exit code is looked at where it matters
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill() // fails if it has ended, as it should
		<-c.ended
	})
}

// end sends a signal and waits.
func (c *child) end(t *testing.T, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	c.wait(t, "after the signal")
}

// wait waits for the end.
func (c *child) wait(t *testing.T, since string) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(hangs):
		t.Fatalf("still running %v %s", hangs, since)
	}
}

// until waits for something to be seen. It fails if the child ends before.
func (c *child) until(t *testing.T, what string, seen func() bool) {
	t.Helper()
	deadline := time.After(hangs)
	for !seen() {
		select {
		case <-c.ended:
			t.Fatalf("ended before %s: %v\n%s%s", what, c.ProcessState, c.stdout.String(), c.stderr.String())
		case <-deadline:
			t.Fatalf("waited %v for %s", hangs, what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// kept is the directory of the child's only run, or empty if there is none yet. The link latest
// leads to runs with a verdict alone.
func (c *child) kept() string {
	runs, _ := filepath.Glob(filepath.Join(c.dir, "store", "*", "2*"))
	if len(runs) != 1 {
		return ""
	}
	return runs[0]
}

// checkUnpublished checks that the link latest does not lead to a run without a verdict.
func (c *child) checkUnpublished(t *testing.T) {
	t.Helper()
	if to, err := os.Readlink(filepath.Join(filepath.Dir(c.kept()), histories.Latest)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("latest → %s, %v; want no such link", to, err)
	}
}

// startLong starts a run that takes much longer than the test, and waits until events are
// on disk.
func startLong(t *testing.T, args ...string) *child {
	t.Helper()
	c := newChild(t, append([]string{"run", "--workload", "contend"}, args...)...)
	c.start(t)
	c.until(t, "events on disk", func() bool {
		info, err := os.Stat(filepath.Join(c.kept(), histories.EventsFile))
		return err == nil && info.Size() > 1000
	})
	return c
}

// startOnServers does so on redis-server processes, which it sees running.
func startOnServers(t *testing.T) *child {
	t.Helper()
	c := startLong(t, "--backend", "process", "--rounds", "2000")
	running, err := servers(c.tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(running) < 2 { // the lock's and the register's
		t.Fatalf("servers of the run: %v, want at least 2", running)
	}
	return c
}

func (c *child) checkInterrupted(t *testing.T, message string) {
	t.Helper()
	if code := c.ProcessState.ExitCode(); code != exitHarness {
		t.Errorf("%v, want exit code %d", c.ProcessState, exitHarness)
	}
	const progress = `([0-9].* (of the run|runs\b).*\n)*` // how far it is, on a slow machine
	if got := c.stderr.String(); !regexp.MustCompile(`\A` + progress + message + `\z`).MatchString(got) {
		t.Errorf("stderr is %q, want %s", got, message)
	}
}

const interruptedAndKept = `lockbench: interrupted after 0 of 1 runs\nwhat was recorded is kept in store/\S+\n`

// checkKept checks that what was recorded until an interruption is kept, and returns it.
func (c *child) checkKept(t *testing.T) []histories.Event {
	t.Helper()
	meta, events, err := histories.Load(c.kept())
	if err != nil || len(events) == 0 || meta.Phase != histories.PhaseRecorded {
		t.Errorf("kept: phase %q, %d events, %v", meta.Phase, len(events), err)
	}
	c.checkUnpublished(t)
	return events
}

// checkGone checks that neither servers nor their files are left.
func (c *child) checkGone(t *testing.T) {
	t.Helper()
	if left, err := servers(c.tmp); err != nil || len(left) > 0 {
		t.Errorf("servers left: %v, %v", left, err)
	}
	if left, err := os.ReadDir(c.tmp); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestInterruptOnServers(t *testing.T) {
	locktest.NeedRedis(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			c := startOnServers(t)
			c.end(t, s)
			c.checkInterrupted(t, interruptedAndKept)
			c.checkKept(t)
			c.checkGone(t)
		})
	}
}

// TestKillOnServers kills a run. The servers die with it, its events can be read, and
// the next run removes its files.
func TestKillOnServers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills servers with the process that started them")
	}
	locktest.NeedRedis(t)
	t.Parallel()
	c := startOnServers(t)
	c.end(t, syscall.SIGKILL)
	deadline := time.Now().Add(hangs)
	for {
		left, err := servers(c.tmp)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("servers left: %v", left)
		}
		time.Sleep(10 * time.Millisecond)
	}

	meta, events, err := histories.Load(c.kept())
	if meta.Phase != histories.PhaseRunning || len(events) == 0 {
		t.Errorf("kept: phase %q, %d events", meta.Phase, len(events))
	}
	if err != nil {
		checkTorn(t, filepath.Join(c.kept(), histories.EventsFile), len(events), err)
	}

	next := newChild(t, "run", "--scenario", "failover-async-repl", "--backend", "process", "--out", "none")
	next.tmp, next.Env = c.tmp, c.Env
	if err := next.Run(); err != nil {
		t.Fatalf("the next run: %v\n%s", err, next.stderr.String())
	}
	if left, err := os.ReadDir(c.tmp); err != nil || len(left) > 0 {
		t.Errorf("files left after the next run: %v, %v", left, err)
	}
}

// checkTorn checks that only what follows the last line break is damaged.
func checkTorn(t *testing.T, name string, events int, damage error) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if whole := bytes.Count(data, []byte("\n")); events != whole || bytes.HasSuffix(data, []byte("\n")) {
		t.Errorf("%d of %d whole lines were read: %v", events, whole, damage)
	}
}

// TestInterruptInVirtualTime interrupts one long run, which no context reaches.
func TestInterruptInVirtualTime(t *testing.T) {
	t.Parallel()
	c := startLong(t, "--rounds", "1000000")
	c.end(t, os.Interrupt)
	c.checkInterrupted(t, interruptedAndKept)
	c.checkKept(t)
}

// TestInterruptManyRuns interrupts between or in short runs.
func TestInterruptManyRuns(t *testing.T) {
	t.Parallel()
	c := newChild(t, "run", "--scenario", "failover-async-repl", "--runs", "100000", "--out", "none")
	c.Stdout = nil
	lines, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(lines)
	var told []string
	for scanner.Scan() {
		if told = append(told, scanner.Text()); len(told) == 3 {
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) {
		t.Fatalf("got %v, want an exit code", err)
	}
	c.checkInterrupted(t, `lockbench: interrupted after \d+ of 100000 runs\n`)
	if slices.ContainsFunc(told, func(l string) bool { return !strings.HasPrefix(l, "seed ") }) {
		t.Errorf("told more than the runs: %q", told)
	}
}

// TestCancelledBeforeRun checks that nothing is kept of runs that never began.
func TestCancelledBeforeRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "store")
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"run", "--scenario", "failover-async-repl", "--out", out}, &stdout, &stderr)
	if code != exitHarness || stdout.Len() > 0 || stderr.String() != "lockbench: interrupted after 0 of 1 runs\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store was made: %v", err)
	}
}
