// Package locktest says what tests need that a machine may lack, and starts it.
package locktest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// NeedRedis returns the path of redis-server. Without one the test is skipped, or
// fails if the environment has LOCKBENCH_REQUIRE_REDIS=1.
func NeedRedis(t testing.TB) string {
	t.Helper()
	effort.Real(t)
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
