package effort_test

import (
	"slices"
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

// TestPart: of a table -short leaves entries out, the same each time, and not the first. Without it nothing is left out.
func TestPart(t *testing.T) {
	all := []int{10, 11, 12, 13, 14, 15, 16}
	want := all
	if testing.Short() {
		want = []int{10, 13, 16}
	}
	if got := effort.Part(all, 3); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := effort.Part(all[:1], 9); len(got) != 1 {
		t.Errorf("%v of a short table, want its first entry", got)
	}
	if got := effort.Part(all[:0], 9); len(got) != 0 {
		t.Errorf("%v of an empty table", got)
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
