//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	psutil "github.com/shirou/gopsutil/v3/process"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// workers finds the worker processes that were started in dir.
func workers(t *testing.T, dir string) []int32 {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := psutil.Processes()
	if err != nil {
		t.Fatal(err)
	}
	var found []int32
	for _, p := range all {
		line, err := p.CmdlineSlice()
		if err != nil || len(line) != 2 || line[1] != "worker" {
			continue // ended meanwhile, or another program
		}
		if cwd, err := p.Cwd(); err == nil && cwd == dir {
			found = append(found, p.Pid)
		}
	}
	return found
}

// startPaused starts a run with workers, and returns when one of them has been stopped.
func startPaused(t *testing.T) *child {
	t.Helper()
	c := startLong(t, "--backend", "process", "--rounds", "100000", "--nemesis", "pause")
	c.until(t, "a client that is stopped", func() bool {
		data, err := os.ReadFile(filepath.Join(c.kept(), histories.EventsFile))
		return err == nil && bytes.Contains(data, []byte("SIGSTOP"))
	})
	if found := workers(t, c.dir); len(found) != 6 { // and the prober
		t.Fatalf("workers of the run: %v, want 6", found)
	}
	return c
}

func TestInterruptWorkers(t *testing.T) {
	locktest.NeedRedis(t)
	t.Parallel()
	c := startPaused(t)
	c.end(t, os.Interrupt)
	c.checkInterrupted(t, interruptedAndKept)
	if left := workers(t, c.dir); len(left) > 0 {
		t.Errorf("workers left: %v", left)
	}
	if left, err := os.ReadDir(c.tmp); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// TestKillWithWorkers kills a run. Its workers die with it, also those that are stopped.
func TestKillWithWorkers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills workers with the process that started them")
	}
	locktest.NeedRedis(t)
	t.Parallel()
	c := startPaused(t)
	pids := workers(t, c.dir)
	c.end(t, syscall.SIGKILL)
	deadline := time.Now().Add(hangs)
	for left := pids; len(left) > 0; time.Sleep(10 * time.Millisecond) {
		left = slices.DeleteFunc(left, func(pid int32) bool {
			p, err := psutil.NewProcess(pid)
			if err != nil {
				return true
			}
			status, err := p.Status()
			return err != nil || slices.Contains(status, psutil.Zombie) // init may take its time
		})
		if time.Now().After(deadline) {
			t.Fatalf("workers left: %v", left)
		}
	}
}
