//go:build unix

package osproc_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
)

func TestMeasureSelf(t *testing.T) {
	debug.FreeOSMemory() // memory that earlier tests are done with would be used again, unseen
	before, err := osproc.Measure(t.Context(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if before.PID != os.Getpid() || before.Stopped || before.Resident < 1e6 || before.Threads < 1 {
		t.Errorf("measured %+v", before)
	}
	ballast := make([]byte, 64<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	for n := 0; ; n++ { // until the system has counted some of this loop
		u, err := osproc.Measure(t.Context(), os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if u.CPU >= before.CPU+20*time.Millisecond && u.Resident > before.Resident+32<<20 {
			break
		}
		if n == 1e5 {
			t.Fatalf("after a lot of work and 64 MB: %+v, before %+v", u, before)
		}
	}
	runtime.KeepAlive(ballast)
}

// A process that has ended is told from one that cannot be seen, also while nobody has
// waited for it.
func TestMeasureChild(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	until := func(what string, reached func(osproc.Usage, error) bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			u, err := osproc.Measure(t.Context(), cmd.Process.Pid)
			if reached(u, err) {
				return
			}
			if time.Now().After(end) {
				t.Errorf("want it %s, found %+v, %v", what, u, err)
				return
			}
		}
	}
	ended := func(_ osproc.Usage, err error) bool { return errors.Is(err, osproc.ErrEnded) }
	until("running", func(u osproc.Usage, err error) bool { return err == nil && !u.Stopped && u.Threads == 1 })
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	until("stopped", func(u osproc.Usage, err error) bool { return err == nil && u.Stopped })
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	until("ended", ended)
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	until("gone", ended)
}
