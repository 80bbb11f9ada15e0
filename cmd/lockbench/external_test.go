//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

const ownPassword = "c0rrect-h0rse"

// ownServer starts a server of the user's own, with somebody else's key.
func ownServer(t *testing.T) (addr string, look *redis.Client) {
	t.Helper()
	addr = locktest.StartRedis(t, "--requirepass", ownPassword)
	look = redis.NewClient(&redis.Options{Addr: addr, Password: ownPassword})
	t.Cleanup(func() { _ = look.Close() })
	if err := look.Set(t.Context(), "orders/42", "theirs", 0).Err(); err != nil {
		t.Fatal(err)
	}
	return addr, look
}

func onlyTheirs(t *testing.T, look *redis.Client) {
	t.Helper()
	if keys, err := look.Keys(t.Context(), "*").Result(); err != nil || !slices.Equal(keys, []string{"orders/42"}) {
		t.Errorf("the server holds %q, %v; want what it held before", keys, err)
	}
}

// TestExternalScripts runs the scripts that need servers of the user's own.
func TestExternalScripts(t *testing.T) {
	addr, look := ownServer(t)
	t.Run("scripts", func(t *testing.T) { // ends when its parallel scripts have
		p := params(t, "testdata/external")
		setup := p.Setup
		p.Setup = func(env *testscript.Env) error {
			env.Setenv("REDIS", addr)
			env.Setenv("PASSWORD", ownPassword)
			return setup(env)
		}
		testscript.Run(t, p)
	})
	onlyTheirs(t, look)
}

// TestInterruptOnOwnServers interrupts a run while its keys are on the server.
func TestInterruptOnOwnServers(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			addr, look := ownServer(t)
			c := newChild(t, "run", "--workload", "contend", "--backend", "external", "--redis", addr, "--rounds", "100000")
			c.Env = append(c.Env, "LOCKBENCH_REDIS_PASSWORD="+ownPassword)
			c.start(t)
			c.until(t, "keys on the server", func() bool { return look.DBSize(t.Context()).Val() > 1 })
			c.end(t, os.Signal(s))
			c.checkInterrupted(t, interruptedAndKept)
			if said := c.stdout.String() + c.stderr.String(); strings.Contains(said, ownPassword) {
				t.Errorf("the password is told: %s", said)
			}
			onlyTheirs(t, look)
		})
	}
}

// TestCleanOnOwnServers kills a run by SIGKILL while its keys are on the server. Clean removes
// them once it is dead, and needs the login, which nobody has written down.
func TestCleanOnOwnServers(t *testing.T) {
	addr, look := ownServer(t)
	c := newChild(t, "run", "--workload", "contend", "--backend", "external", "--redis", addr, "--lock", "setnx", "--rounds", "100000", "--out", "none")
	c.Env = append(c.Env, "LOCKBENCH_REDIS_PASSWORD="+ownPassword, "XDG_STATE_HOME="+c.dir)
	clean := func(password string) (said string, code int) {
		t.Helper()
		cmd := exec.Command("lockbench", "clean")
		cmd.Env = append(os.Environ(), "GORACE="+quickExit, "XDG_STATE_HOME="+c.dir, "LOCKBENCH_REDIS_PASSWORD="+password, "DOCKER_HOST=unix:///nowhere")
		out, _ := cmd.CombinedOutput() // its exit code is looked at
		return string(out), cmd.ProcessState.ExitCode()
	}
	c.start(t)
	c.until(t, "keys on the server", func() bool { return look.DBSize(t.Context()).Val() > 1 })
	notes, err := filepath.Glob(filepath.Join(c.dir, "lockbench", "*.json"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("notes: %v, %v, want one", notes, err)
	}
	if data, err := os.ReadFile(notes[0]); err != nil || strings.Contains(string(data), ownPassword) {
		t.Errorf("the note: %s, %v", data, err)
	}
	if said, _ := clean(ownPassword); strings.Contains(said, "removed keys") {
		t.Errorf("clean removed keys of a live run: %s", said)
	}
	c.end(t, syscall.SIGKILL)
	if look.DBSize(t.Context()).Val() < 2 {
		t.Fatal("the killed run left nothing")
	}
	if said, code := clean(""); code != exitHarness || !strings.Contains(said, "wants a password") {
		t.Errorf("without a password: exit code %d, %s", code, said)
	}
	if said, code := clean(ownPassword); code != exitExpected || !strings.Contains(said, "removed keys on "+addr) {
		t.Errorf("exit code %d, %s", code, said)
	}
	onlyTheirs(t, look)
	if left, _ := filepath.Glob(filepath.Join(c.dir, "lockbench", "*")); len(left) > 0 {
		t.Errorf("notes are left: %v", left)
	}
}
