//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestInterruptAStep interrupts a scenario in a step that waits for most of a long lease.
func TestInterruptAStep(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t)
	t.Parallel()
	c := newChild(t, "run", "--scenario", "rw-expiry-judged-by-the-other", "--backend", "process", "--ttl", "1h")
	c.start(t)
	c.until(t, "the read before the step", func() bool {
		_, events, _ := histories.Load(c.kept()) // the last line may not be whole yet
		return slices.ContainsFunc(events, func(e histories.Event) bool { return e.F == histories.Read && e.Type == histories.OK })
	})
	if running, err := servers(c.tmp); err != nil || len(running) < 2 { // the lock's and the register's
		t.Fatalf("servers of the run: %v, %v, want at least 2", running, err)
	}
	c.end(t, syscall.SIGTERM)
	c.checkInterrupted(t, interruptedAndKept)
	c.checkKept(t)
	c.checkGone(t)
}

// TestInterruptComputingLocks: a lock that computes without end keeps nobody from ending.
func TestInterruptComputingLocks(t *testing.T) {
	effort.Real(t)
	for _, backend := range []string{"embedded", "process"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			if backend == "process" {
				locktest.NeedRedis(t)
			}
			c := childOf(t, computingProgram, "run", "--workload", "contend", "--clients", "2", "--rounds", "100000", "--backend", backend)
			c.start(t)
			c.wait(t, "since its lock computes")
			c.checkInterrupted(t, interruptedAndKept)
			c.checkKept(t)
			c.checkGone(t)
		})
	}
}

// mute is a worker that says what it is, gets ready, and answers nothing more.
const mute = `read hello
echo '{"id":1,"type":"ok","protocol":2,"worker":"mute","keys":["%s"]}'
read configure
echo '{"id":2,"type":"ok"}'
cat >/dev/null`

// TestMuteWorker: a worker that does not answer is a finding of availability, and the end of its
// run. At night it has all the time that is documented.
func TestMuteWorker(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t)
	t.Parallel()
	program := hastyProgram
	if effort.Nightly() {
		program = "lockbench"
	}
	c := childOf(t, program, "run", "--scenario", "get-del-race", "--backend", "process", "--ttl", "1s", "--worker", "/bin/sh -c "+quoted(mute))
	c.start(t)
	c.wait(t, "since its worker is mute")
	if code := c.ProcessState.ExitCode(); code != exitUnexpected {
		t.Fatalf("%v, want exit code %d\n%s%s", c.ProcessState, exitUnexpected, c.stdout.String(), c.stderr.String())
	}
	_, events, err := histories.Load(c.kept())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(c.kept(), histories.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	var judged checker.Judgement
	if err := json.Unmarshal(data, &judged); err != nil {
		t.Fatal(err)
	}
	for _, r := range judged.Report.Results {
		switch {
		case r.Property != checker.Availability && r.Verdict == checker.Pass:
			t.Errorf("%s passes in a run that was not played to its end", r.Property)
		case r.Property == checker.Availability && (r.Verdict != checker.Fail || len(r.Witness) != 1 || events[r.Witness[0]].F != histories.Hung):
			t.Errorf("availability is %v by events %v, want the call that hangs: %s", r.Verdict, r.Witness, r.Story)
		}
	}
	if _, err := os.Stat(filepath.Join(c.kept(), histories.ReportFile)); err != nil {
		t.Error(err)
	}
	c.checkGone(t)
}
