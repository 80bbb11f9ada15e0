package locktest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/lockbench/lockbench/internal/harness"
)

// Backend is where the servers of a test are.
type Backend harness.Backend

// Embedded returns the backend of in-process servers in virtual time, which is the usual one.
func Embedded() Backend { return Backend(harness.Embedded()) }

// Process returns the backend of redis-server processes, which are started for each run and need redis-server
// 6.2 or newer on PATH. A test is skipped where there is none.
func Process() Backend { return Backend(harness.Process()) }

// Redis returns the backend of a server of the user's own, by its address. Nothing is done to the server itself,
// and scenarios that need that are left out. It keeps the keys of runs for a moment, under names of their own.
func Redis(addr string) (Backend, error) {
	servers, err := harness.ParseServers(addr, "", "", "")
	return Backend(harness.External(servers)), err
}

// addrEnv names the server that tests are to be played on.
const addrEnv = "REDIS_ADDR"

// backendFlag is where a test binary is to play.
var backendFlag = flag.String("lockbench.backend", "", //nolint:gochecknoglobals // go test parses flags before any test
	"play locktest on `embedded` servers in virtual time (the default) or on redis-server processes (process); "+addrEnv+" names a server of your own")

// asked is the backend that the test binary was started with.
func asked(t testing.TB) harness.Backend {
	t.Helper()
	for _, b := range []Backend{Embedded(), Process()} {
		if *backendFlag == b.Name {
			return harness.Backend(b)
		}
	}
	if *backendFlag != "" {
		t.Fatalf("-lockbench.backend is %q, want %s or %s", *backendFlag, Embedded().Name, Process().Name)
	}
	addr := os.Getenv(addrEnv)
	if addr == "" {
		return harness.Embedded()
	}
	b, err := Redis(addr)
	if err != nil {
		t.Fatalf("%s is %q: %v", addrEnv, addr, err)
	}
	return harness.Backend(b)
}

// ready skips a test whose backend this machine does not have.
func ready(t testing.TB, b harness.Backend) {
	t.Helper()
	if b.Name != Process().Name {
		return
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip(fmt.Errorf("this test plays on redis-server processes: %w", err))
	}
}
