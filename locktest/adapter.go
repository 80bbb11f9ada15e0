package locktest

import (
	"context"
	"sync"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// Lease is a lease of a lock that is given as a func to World.Locker.
type Lease struct {
	// Release gives the lease back. It returns locks.ErrNotHeld if the lock says that it is not held
	// any more, and any other error if that is not known.
	Release func(ctx context.Context) error
	// Extend makes the lease last for ttl from now. Optional: leases cannot be extended. Either all
	// leases of a lock have it or none.
	Extend func(ctx context.Context, ttl time.Duration) error
	// Until is when the lock tells its holder that the lease ends. Optional: the holder counts the TTL
	// from the begin of the call that asked for it.
	Until func() time.Time
	// Lost is closed when the lock tells its holder that the lease is lost. Optional: it tells nobody.
	// A lock with it renews its leases in the background. Either all leases of a lock have it or none.
	Lost <-chan struct{}
	// Token is the fencing token. Optional: 0 is none.
	Token int64
}

// Locker returns a lock that tries once to acquire key by calling acquire. It is the short way to
// put a library under test:
//
//	return w.Locker(func(ctx context.Context, key string, ttl time.Duration) (locktest.Lease, error) {
//		...
//	}), nil
//
// acquire returns locks.ErrTaken if somebody else holds the lock. After any other error nobody knows
// whether it was granted. A lock that can be re-entered, shared or waited for is a type with the
// methods of locks.Reentrant, locks.RWLocker or locks.Patient.
func (w World) Locker(acquire func(ctx context.Context, key string, ttl time.Duration) (Lease, error)) locks.Locker {
	return &called{clock: w.env.Clock, acquire: acquire}
}

// called is a lock of one func.
type called struct {
	clock   locks.Clock
	acquire func(ctx context.Context, key string, ttl time.Duration) (Lease, error)
}

func (c *called) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	asked := c.clock.Now()
	lease, err := c.acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	h := &held{Lease: lease, clock: c.clock, ends: asked.Add(ttl)}
	switch {
	case lease.Extend != nil && lease.Lost != nil:
		return struct {
			*held
			extended
			watched
		}{h, extended{h}, watched{h}}, nil
	case lease.Extend != nil:
		return struct {
			*held
			extended
		}{h, extended{h}}, nil
	case lease.Lost != nil:
		return struct {
			*held
			watched
		}{h, watched{h}}, nil
	}
	return h, nil
}

// held is a Lease as a locks.Lease.
type held struct {
	Lease
	clock locks.Clock

	mu   sync.Mutex
	ends time.Time // as a holder counts that is told nothing
}

func (h *held) Release(ctx context.Context) error { return h.Lease.Release(ctx) }
func (h *held) Token() int64                      { return h.Lease.Token }

func (h *held) Deadline() time.Time {
	if h.Until != nil {
		return h.Until()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ends
}

type extended struct{ of *held }

// Extend moves the holder's count only if the extension is certain, or if it may have made the lease shorter.
func (e extended) Extend(ctx context.Context, ttl time.Duration) error {
	ends := e.of.clock.Now().Add(ttl)
	err := e.of.Lease.Extend(ctx, ttl)
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	if err == nil || locks.Classify(err) == locks.Indefinite && ends.Before(e.of.ends) {
		e.of.ends = ends
	}
	return err
}

type watched struct{ of *held }

func (w watched) Lost() <-chan struct{} { return w.of.Lease.Lost }
