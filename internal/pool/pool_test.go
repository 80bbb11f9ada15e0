package pool_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/pool"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

const asPlayer = "LOCKBENCH_TEST_PLAYER"

func TestMain(m *testing.M) {
	if os.Getenv(asPlayer) == "" {
		os.Exit(m.Run())
	}
	if err := pool.Serve(context.Background(), os.Stdin, os.Stdout, catalogue()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// catalogue is that of the project, and locks that cannot be played in the process that looks for schedules.
func catalogue() locks.Catalogue {
	all := libraries.Catalogue()
	lock, err := all.Find("setnx-px-lua")
	if err != nil {
		panic(err)
	}
	dies, hangs := lock, lock
	dies.Name, dies.New = "dies", func(locks.Env) locks.Locker {
		fmt.Fprintln(os.Stderr, "the lock says farewell")
		os.Exit(3)
		return nil
	}
	hangs.Name, hangs.New = "hangs", func(locks.Env) locks.Locker { select {} }
	return append(all, dies, hangs)
}

func started(t *testing.T, n int) *pool.Pool {
	t.Helper()
	p := pool.New(n, func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asPlayer+"=1")
		return cmd
	})
	t.Cleanup(p.Close)
	return p
}

func lockOf(t *testing.T, name string) locks.Spec {
	t.Helper()
	lock, err := catalogue().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func program(t *testing.T, lock locks.Spec, name string) explore.Program {
	t.Helper()
	all, err := explore.Programs(lock, resource.None)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("there is no program %s", name)
	return explore.Program{}
}

// TestSameOutcome: a process of its own comes to what this one comes to, also with deviations.
func TestSameOutcome(t *testing.T) {
	elsewhere, here := started(t, 2).Play, explore.InProcess()
	for _, name := range []string{"setnx-px-lua", "setnx-px-get-del"} {
		lock := lockOf(t, name)
		p := program(t, lock, "relay")
		fair, err := here(t.Context(), p, lock)
		if err != nil {
			t.Fatal(err)
		}
		all := []explore.Program{p}
		space := explore.NewSpace(p, fair.Points[:1], lock)
		for rank := range space.Len() - 1 {
			all = append(all, explore.Finding{Program: p, Deviations: space.At(rank + 1)}.Schedule())
		}
		for _, p := range all {
			want, err := here(t.Context(), p, lock)
			got, other := elsewhere(t.Context(), p, lock)
			if err != nil || other != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s\n%s: %+v, %v; here %+v, %v", p, name, got, other, want, err)
			}
		}
	}
}

// TestUnfitElsewhere: that lock and program do not go together is told as such.
func TestUnfitElsewhere(t *testing.T) {
	p := program(t, lockOf(t, "rw-hash"), "readers")
	if _, err := started(t, 1).Play(t.Context(), p, lockOf(t, "setnx-px-lua")); !harness.NotApplicable(err) {
		t.Errorf("readers with a lock that knows none: %v, want that it is not applicable", err)
	}
}

// TestProcessDies: what ends with its process is told, with what the process said, and the next run has another one.
func TestProcessDies(t *testing.T) {
	p, lock := started(t, 1), lockOf(t, "setnx-px-lua")
	once := program(t, lock, "once")
	if _, err := p.Play(t.Context(), once, lockOf(t, "dies")); err == nil || !strings.Contains(err.Error(), "the lock says farewell") {
		t.Errorf("a lock that ends its process: %v, want what the process said", err)
	}
	if _, err := p.Play(t.Context(), once, lock); err != nil {
		t.Errorf("after a process has died: %v", err)
	}
}

// TestInterrupted: a run that does not end is ended with the context.
func TestInterrupted(t *testing.T) {
	p, lock := started(t, 1), lockOf(t, "setnx-px-lua")
	once := program(t, lock, "once")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Play(ctx, once, lockOf(t, "hangs")); err == nil {
		t.Error("a lock that hangs was played to its end")
	}
	if _, err := p.Play(t.Context(), once, lock); err != nil {
		t.Errorf("after an interruption: %v", err)
	}
}
