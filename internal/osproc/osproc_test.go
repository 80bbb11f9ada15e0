//go:build unix

package osproc_test

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sleeper starts a process that does nothing.
func sleeper(t *testing.T) *exec.Cmd {
	l := osproc.NewLauncher()
	cmd := exec.Command("sleep", "1000")
	must(t, l.Start(cmd))
	t.Cleanup(func() {
		must(t, osproc.KillGroup(cmd.Process.Pid))
		_ = cmd.Wait() // "signal: killed", or done before
		l.Stop()
	})
	return cmd
}

func TestSuspendResume(t *testing.T) {
	cmd := sleeper(t)
	p, err := osproc.Find(t.Context(), cmd.Process.Pid)
	must(t, err)
	for range 3 {
		must(t, p.Suspend(t.Context()))
		state, err := p.State(t.Context())
		must(t, err)
		if state != osproc.Stopped {
			t.Fatalf("suspended, and in state %q", state)
		}
		must(t, p.Resume(t.Context()))
		state, err = p.State(t.Context())
		must(t, err)
		if state == osproc.Stopped {
			t.Fatal("resumed, and still stopped")
		}
	}
}

// A process that dies while it is to be stopped is not waited for, though nobody has
// buried it.
func TestSuspendTheDead(t *testing.T) {
	cmd := sleeper(t)
	p, err := osproc.Find(t.Context(), cmd.Process.Pid)
	must(t, err)
	must(t, osproc.KillGroup(cmd.Process.Pid))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.Suspend(ctx); !errors.Is(err, osproc.ErrEnded) {
		t.Errorf("Suspend: %v, want %v", err, osproc.ErrEnded)
	}
	if err := p.Resume(ctx); !errors.Is(err, osproc.ErrEnded) {
		t.Errorf("Resume: %v, want %v", err, osproc.ErrEnded)
	}
}

// A process that was killed has ended, whether somebody has waited for it by then or not.
func TestKill(t *testing.T) {
	for _, buried := range []bool{false, true} {
		cmd := sleeper(t)
		p, err := osproc.Find(t.Context(), cmd.Process.Pid)
		must(t, err)
		waited := make(chan struct{})
		if buried {
			go func() {
				_ = cmd.Wait() // "signal: killed"
				close(waited)
			}()
		}
		must(t, p.Kill(t.Context()))
		if buried {
			<-waited
			if state, err := p.State(t.Context()); err == nil {
				t.Errorf("killed and waited for, and in state %q", state)
			}
		} else if state, err := p.State(t.Context()); err != nil || state != osproc.Zombie {
			t.Errorf("killed, and in state %q, %v", state, err)
		}
	}
}

func TestKillGroup(t *testing.T) {
	cmd := sleeper(t)
	pid := cmd.Process.Pid
	if !osproc.InGroup(pid, pid) {
		t.Error("a child does not lead a process group of its own")
	}
	p, err := osproc.Find(t.Context(), pid)
	must(t, err)
	must(t, p.Suspend(t.Context())) // what stands still can be killed
	must(t, osproc.KillGroup(pid))
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	must(t, osproc.KillGroup(pid)) // once more
	if _, err := osproc.Find(t.Context(), pid); err == nil {
		t.Error("it is still there")
	}
	if err := p.Suspend(t.Context()); err == nil {
		t.Error("a process that has ended was suspended")
	}
}
