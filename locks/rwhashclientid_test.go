package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// TestRWHashClientIDDoesNotCount shows that the inner release ends the outer hold, and that
// others are kept out until then.
func TestRWHashClientIDDoesNotCount(t *testing.T) {
	spec, err := libraries.Catalogue().Find("rw-hash-client-id")
	if err != nil {
		t.Fatal(err)
	}
	if err := onEmbedded(spec, func(w *world) {
		ctx := context.Background()
		a, b := spec.New(w.Env("A")), spec.New(w.Env("B"))
		if _, err := a.Acquire(ctx, w.Key(), time.Minute); err != nil {
			t.Error(err)
		}
		inner, err := a.Acquire(ctx, w.Key(), time.Minute)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := b.Acquire(ctx, w.Key(), time.Minute); !errors.Is(err, locks.ErrTaken) {
			t.Errorf("beside two holds: %v", err)
		}
		if err := inner.Release(ctx); err != nil {
			t.Error(err)
		}
		if _, err := b.Acquire(ctx, w.Key(), time.Minute); err != nil {
			t.Errorf("beside one hold: %v, want a lease, as nobody counts", err)
		}
	}); err != nil {
		t.Error(err)
	}
}
