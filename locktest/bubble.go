package locktest

import (
	"testing"

	"github.com/lockbench/lockbench/internal/sim/stacks"
)

// outside ends a test that is inside a bubble of testing/synctest.
func outside(t testing.TB, name string) {
	t.Helper()
	if stacks.InBubble() {
		t.Fatalf("locktest.%s is called inside a bubble of testing/synctest, and makes its own: call it outside of synctest.Test", name)
	}
}
