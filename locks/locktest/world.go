// Package locktest is the contract that every lock of package locks is held to, and
// the means to run it: against servers in virtual time and against real ones.
package locktest

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// World is one fresh deployment with the masters that a lock asks for, free of faults.
type World interface {
	// Client is the surroundings of one more client.
	Client(name string) locks.Env
	// Sleep lets time pass, for the servers too.
	Sleep(d time.Duration)
	// Inspect looks under key on every master, in node order, past all clients.
	Inspect(key string) ([]Key, error)
	// Tries is how often a call may be made until its answer is definite: once, or
	// more where a busy machine can make calls time out.
	Tries() int
}

// Key is what one master holds under a key. The zero value is an absent key.
type Key struct {
	Exists bool
	Value  string
	TTL    time.Duration // remaining; negative if the key never expires
}

// NeedRedis returns the path of redis-server. Without one the test is skipped, or
// fails if the environment has LOCKBENCH_REQUIRE_REDIS=1.
func NeedRedis(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err == nil {
		return path
	}
	const missing = "redis-server not found on PATH. Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis"
	if os.Getenv("LOCKBENCH_REQUIRE_REDIS") == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}
