// Package effort says how much a test is to do.
//
// There are three efforts, and one way to ask for each:
//
//   - go test -short (make test-fast) stays in virtual time, where nothing need be installed.
//   - go test (make test) is what every change runs.
//   - go test with LOCKBENCH_NIGHTLY=1 (make nightly) plays whatever can be played.
//
// They differ in how many scenarios, locks and seeds a test goes through, never in what it
// asks of each.
package effort

import (
	"os"
	"testing"
)

const (
	nightlyEnv = "LOCKBENCH_NIGHTLY"
	dockerEnv  = "LOCKBENCH_REQUIRE_DOCKER"
)

// Nightly reports whether a test is to play whatever it can.
func Nightly() bool { return os.Getenv(nightlyEnv) == "1" }

// Count returns how many seeds, runs or histories a test goes through: in a change, or at
// night. Under -short it is a tenth of a change's, and at least one.
func Count(change, night int) int {
	switch {
	case Nightly():
		return night
	case testing.Short():
		return max(1, change/10)
	}
	return change
}

// Part returns what a test goes through of a long table: all of it, and under -short every nth entry from the first on. What it leaves
// out is the same each time.
func Part[T any](all []T, n int) []T {
	if !testing.Short() {
		return all
	}
	some := make([]T, 0, (len(all)+n-1)/n)
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// Real marks a test as one that needs more than virtual time: a server, an engine, a browser,
// the runtime of another language, or real time that passes. Under -short it skips the test.
func Real(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("optional: -short stays in virtual time")
	}
}

// Long marks a test that takes seconds of a processor, or minutes under the race detector, and of which no part would do. Under
// -short it skips the test.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("optional: -short leaves out what takes long")
	}
}

// NoDocker skips a test for want of a usable Docker engine, which not every machine can run. Where
// LOCKBENCH_REQUIRE_DOCKER=1 is in the environment it fails the test instead. The reason begins
// with words of its own, by which CI on a machine without an engine tells it from all others.
func NoDocker(t testing.TB, err error) {
	t.Helper()
	if os.Getenv(dockerEnv) == "1" {
		t.Fatal(err)
	}
	t.Skipf("without Docker: %v", err)
}
