package node

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// Everybody waits for everybody: one after the other they would never end.
func TestInParallel(t *testing.T) {
	items := []int{1, 2, 3}
	var all sync.WaitGroup
	all.Add(len(items))
	var sum atomic.Int64
	must(t, InParallel(t.Context(), items, func(_ context.Context, n int) error {
		sum.Add(int64(n))
		all.Done()
		all.Wait()
		return nil
	}))
	if sum.Load() != 6 {
		t.Errorf("sum is %d, want 6", sum.Load())
	}
	must(t, InParallel(t.Context(), nil, func(context.Context, int) error { return errors.New("called") }))
}

// The first error ends the others, which are waited for, and is the one returned.
func TestInParallelError(t *testing.T) {
	first := errors.New("first")
	var ended atomic.Int64
	err := InParallel(t.Context(), []int{0, 1, 2}, func(ctx context.Context, n int) error {
		if n == 1 {
			return first
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), first) {
			t.Errorf("ended by %v, want %v", context.Cause(ctx), first)
		}
		ended.Add(1)
		return ctx.Err()
	})
	if !errors.Is(err, first) || ended.Load() != 2 {
		t.Errorf("got %v after %d others had ended, want %v after 2", err, ended.Load(), first)
	}
}
