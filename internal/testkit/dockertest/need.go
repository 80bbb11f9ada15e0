// Package dockertest is for tests that need a Docker engine.
package dockertest

import (
	"errors"
	"testing"

	"github.com/lockbench/lockbench/internal/redis/docker"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// Need skips the test where there is no Docker engine, or no image and no way to it: see
// effort.NoDocker.
func Need(t testing.TB) {
	t.Helper()
	effort.Real(t)
	err := docker.EnsureImage(t.Context(), t.Output())
	if missing, ok := errors.AsType[*docker.MissingError](err); ok {
		effort.NoDocker(t, missing)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Turn is for a test whose faults must end within a lease: an engine that is asked to start and kill many
// containers at once takes longer than that. It returns when no other such test runs, of this package or
// of another one that is tested at the same time. A test that is parallel calls it when it is.
func Turn(t testing.TB) {
	t.Helper()
	Need(t)
	wait(t)
}
