package locktest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// NeedPythonRedis returns a Python that has redis-py: the first on PATH, or the system's own,
// which is the one that Debian's package is for. Without one it skips the test, or fails it
// if the environment has LOCKBENCH_REQUIRE_PYTHON=1.
func NeedPythonRedis(t testing.TB) string {
	t.Helper()
	effort.Real(t)
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import redis").Run() == nil {
			return python
		}
	}
	const missing = "no python3 with the module redis. Debian, Ubuntu: apt-get install python3-redis; elsewhere: pip install redis"
	if os.Getenv("LOCKBENCH_REQUIRE_PYTHON") == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}
