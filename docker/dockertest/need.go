// Package dockertest is for tests that need a Docker engine.
package dockertest

import (
	"os"
	"testing"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/effort"
)

// Need skips the test where there is no Docker engine, or no image and no way to it.
// With LOCKBENCH_REQUIRE_DOCKER=1 in the environment it fails the test instead.
func Need(t testing.TB) {
	t.Helper()
	effort.Real(t)
	err := docker.EnsureImage(t.Context(), t.Output())
	switch {
	case err != nil && os.Getenv("LOCKBENCH_REQUIRE_DOCKER") == "1":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
}
