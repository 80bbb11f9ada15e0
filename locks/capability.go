package locks

import (
	"context"
	"time"
)

// The optional capabilities of locks and leases. A Spec says which ones to expect.

// Extender is a Lease that can be prolonged while it is held.
type Extender interface {
	// Extend makes the lease last for ttl from now and moves Deadline. ErrNotHeld means
	// that the lease is gone and was not brought back.
	Extend(ctx context.Context, ttl time.Duration) error
}

// Watched is a Lease that is renewed in the background.
type Watched interface {
	// Lost is closed once the lease can no longer be relied on, and before it can have
	// ended on the server. It stays open after a Release.
	Lost() <-chan struct{}
}

// Reentrant is a Locker whose holder may acquire again. Every Acquire needs a Release;
// the lock is free after the last.
type Reentrant interface {
	Locker
	// Count is how often this client holds key, as the lock counts it.
	Count(ctx context.Context, key string) (int64, error)
}

// RWLocker is a Locker with shared and exclusive leases. Its Acquire is AcquireWrite.
type RWLocker interface {
	Locker
	AcquireRead(ctx context.Context, key string, ttl time.Duration) (Lease, error)
	AcquireWrite(ctx context.Context, key string, ttl time.Duration) (Lease, error)
}
