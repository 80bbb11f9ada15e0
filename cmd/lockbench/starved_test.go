//go:build unix

package main

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// busy keeps all processors busy until the test ends.
func busy(t *testing.T) {
	t.Helper()
	launcher := osproc.NewLauncher()
	t.Cleanup(launcher.Stop)
	for range runtime.NumCPU() {
		cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
		if err := launcher.Start(cmd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		})
	}
}

// TestStarvedLockbench runs sound locks on servers while lockbench and its servers have only what
// busy processors leave them. No run may accuse its lock.
func TestStarvedLockbench(t *testing.T) {
	if !effort.Nightly() {
		t.Skip("optional: a starved machine is for make nightly")
	}
	locktest.NeedRedis(t)
	nice, err := exec.LookPath("nice")
	if err != nil {
		t.Fatal(err)
	}
	busy(t)
	const load = "--workload contend --clients 3 --ttl 1s --time-limit 5s --lock "
	for _, what := range []string{
		load + "setnx-px-lua", load + "redlock", load + "watchdog", load + "fenced", load + "bsm-redislock",
		"--scenario failover-async-repl --lock redlock",
		"--scenario get-del-race --lock setnx-px-lua",
		"--scenario get-del-race --lock setnx-px-watch",
		"--scenario rw-expiry-judged-by-the-other --lock rw-hash",
		"--scenario gc-pause-lease-expiry --lock fenced --guard fence",
	} {
		c := newChild(t, append([]string{"run", "--backend", "process"}, strings.Fields(what)...)...)
		c.Path, c.Args = nice, append([]string{"nice", "-n", "19"}, c.Args...)
		c.start(t)
		c.wait(t, "since it began")
		if code := c.ProcessState.ExitCode(); code != exitExpected && code != exitUnknown {
			t.Errorf("%s: %v\n%s%s", what, c.ProcessState, c.stdout.String(), c.stderr.String())
		}
	}
}
