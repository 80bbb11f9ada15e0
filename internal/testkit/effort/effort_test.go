package effort_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

func TestCount(t *testing.T) {
	t.Setenv("LOCKBENCH_NIGHTLY", "1")
	if got := effort.Count(20, 500); !effort.Nightly() || got != 500 {
		t.Errorf("at night: %d, want 500", got)
	}
	t.Setenv("LOCKBENCH_NIGHTLY", "")
	want := 20
	if testing.Short() {
		want = 2
	}
	if got := effort.Count(20, 500); effort.Nightly() || got != want {
		t.Errorf("in a change: %d, want %d", got, want)
	}
	if got := effort.Count(3, 500); got < 1 {
		t.Errorf("%d, want at least one", got)
	}
}

// TestReal: what follows Real runs exactly where -short is not given.
func TestReal(t *testing.T) {
	went := false
	t.Run("marked", func(t *testing.T) {
		effort.Real(t)
		went = true
	})
	if went == testing.Short() {
		t.Errorf("with -short=%v it ran: %v", testing.Short(), went)
	}
}
