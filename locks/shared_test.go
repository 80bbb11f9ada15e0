package locks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// notShared are the locks that say they are not safe for concurrent use.
var notShared = map[string]string{
	"lua-uuid-repaired":         "one lock per goroutine, as B says; TestLuaUUIDDoubleLock shows what a second one meets",
	"lua-uuid":                  "one lock per goroutine, as B says",
	"lua-uuid-one-try":          "one lock per goroutine, as B says",
	"setnx-expire-void":         "its pool has no connection left after eight calls",
	"setnx-expire-void-get-del": "its pool has no connection left after eight calls",
	"setnx-px-watch-shared":     "P59: it is shared, and breaks of it",
	"rueidislock":               "the lockers of its TTLs are made without a mutex",
	"rueidislock-px":            "the lockers of its TTLs are made without a mutex",
}

// A lock that does not say otherwise can be shared by goroutines that want different
// keys. The race detector sees the rest. That re-entrant ones take goroutines on the same
// key for one holder is TestReentrantSharedByGoroutines.
func TestSharedByGoroutines(t *testing.T) {
	for name := range notShared {
		if _, err := libraries.Catalogue().Find(name); err != nil {
			t.Error(err)
		}
	}
	for _, spec := range libraries.Catalogue() {
		if notShared[spec.Name] != "" {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			err := onEmbedded(spec, func(w *world) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				w.Rand = func(client string) io.Reader { return &lockedReader{r: seeded(client).Rand} }
				lock := spec.New(w.Client("A"))
				defer closeLock(t, lock)
				var wg sync.WaitGroup
				for i := range 4 {
					clock := w.Clock()
					wg.Go(func() {
						key := fmt.Sprintf("orders/%d", i)
						for range 5 {
							held, err := lock.Acquire(ctx, key, 3*time.Second)
							if err != nil {
								t.Errorf("%s: acquire: %v", key, err)
								return
							}
							_ = clock.Sleep(ctx, time.Millisecond)
							err = held.Release(ctx)
							if errors.Is(err, locks.ErrNotHeld) && !spec.Sound {
								err = nil // a broken lock may misread its release
							}
							if err != nil {
								t.Errorf("%s: release: %v", key, err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// lockedReader is a source for several goroutines.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(b)
}
