package locks

import (
	"context"
	"fmt"
	"time"
)

// The optional capabilities of locks and leases. A Spec says which ones to expect.

// Capabilities names what the lock can do beyond the least, in a fixed order: extend,
// renew, reenter, share (readers), notify (waiters, who then
// wait for that), wait and fence.
func (s Spec) Capabilities() []string {
	var all []string
	for _, c := range []struct {
		name string
		has  bool
	}{
		{"extend", s.Extends},
		{"renew", s.Renews},
		{"reenter", s.Reenters},
		{"share", s.ReadWrite},
		{"notify", s.Notifies},
		{"wait", s.Waits && !s.Notifies},
		{"fence", s.Fencing},
	} {
		if c.has {
			all = append(all, c.name)
		}
	}
	return all
}

// Extender is a Lease that can be prolonged while it is held.
type Extender interface {
	// Extend makes the lease last for ttl from now, or for ttl longer if the lock promises
	// ExtendAdds, and moves Deadline. ErrNotHeld means that the lease is gone and was not
	// brought back. A ttl of 0 or less is an *InputError, and nothing is sent.
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

// Connector is a Locker with connections or goroutines of its own, as a library brings
// them, beside the clients of Env.
type Connector interface {
	// Connect connects to every master, so that no fault hits the set-up. A lock that
	// was not connected does so with its first call.
	Connect(ctx context.Context) error
	// Close ends every connection and goroutine of the lock, and renewal with them. It
	// must not overlap with a call.
	Close() error
}

// Defaulter is a Locker that may be asked for a lease without a TTL, as some libraries allow.
type Defaulter interface {
	Locker
	// AcquireDefault is Acquire of a lease that lasts as long as the lock promises with DefaultTTL.
	AcquireDefault(ctx context.Context, key string) (Lease, error)
}

// Patient is a Locker whose source waits while the lock is taken.
type Patient interface {
	Locker
	// Await acquires a lease on key as the source does that waits for it: it tries until it
	// has it. What it returns is what AcquireWait says.
	Await(ctx context.Context, key string, ttl time.Duration) (Lease, error)
}

// Notifier is a Locker that tells waiters when to try again.
type Notifier interface {
	Locker
	// Subscribe returns a channel that gets a value whenever the lock on key may have become
	// free: when it is released, and when the connection was lost and a release may have
	// been missed. A lease that merely expires is not told, so that a waiter is bounded by
	// TakenError.Remaining, too. Values that are not fetched become one. The channel is never
	// closed.
	//
	// A release before Subscribe returned may be missed: try again after it. ctx bounds the
	// call and not the subscription. The func ends the subscription; the caller must call
	// it, once or more often.
	Subscribe(ctx context.Context, key string) (<-chan struct{}, func(), error)
}

// TakenError is an ErrTaken that says for how long.
type TakenError struct {
	// Remaining is the time until the holder's lease ends, unless it is released or
	// renewed before. Negative: it has no end.
	Remaining time.Duration
}

func (e *TakenError) Error() string {
	if e.Remaining < 0 {
		return "lock is taken, without an end"
	}
	return fmt.Sprintf("lock is taken, for %v at most unless it is renewed", e.Remaining)
}

// Is makes it an ErrTaken.
func (e *TakenError) Is(target error) bool { return target == ErrTaken }
