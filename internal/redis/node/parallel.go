package node

import (
	"context"
	"sync"
)

// InParallel calls f for every item at once, and returns the first error once all
// calls have returned. An error ends the context of the others.
func InParallel[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var first error
	var once sync.Once
	for _, item := range items {
		wg.Go(func() {
			if err := f(ctx, item); err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	wg.Wait()
	return first
}
