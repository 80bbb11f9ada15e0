// Package locks holds the locks under test: full implementations over go-redis,
// one family per file, faithful to their sources, bugs included. All lists them, Find finds
// one by its name, and Spec.New makes it.
//
// A lock sees its surroundings only through Env. Nothing here reads the machine's
// clock or a global random source.
package locks

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// Definite refusals. Every other error leaves the outcome open; see Classify.
var (
	// ErrTaken says that somebody else holds the lock and that this attempt left nothing
	// behind. (The one exception is no hold: the WriterIntent of rw-hash. It also refuses
	// readers for a while when nobody holds the lock.)
	ErrTaken = errors.New("lock is taken")
	// ErrNotHeld says that the lease is no longer the caller's and that nothing was deleted.
	ErrNotHeld = errors.New("lock is not held")
	// ErrRejected says that the server refused a command before it executed it, and not that
	// anybody holds the lock.
	ErrRejected = errors.New("the server refused the command")
)

// Locker acquires leases. It tries once and does not wait.
type Locker interface {
	// Acquire returns a lease on key for ttl, ErrTaken, or an indefinite error.
	Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error)
}

// Lease is one successful acquire.
type Lease interface {
	// Release gives the lock back. ErrNotHeld means that it was lost before.
	Release(ctx context.Context) error
	// Token is the fencing token, or 0 if the lock issues none.
	Token() int64
	// Deadline is the instant, on the client's clock, at which the holder was told
	// that its lease ends. The zero time means never.
	Deadline() time.Time
}

// Verifier is a Lease that can ask the server whether it is still the holder.
type Verifier interface {
	// Verify returns nil, ErrNotHeld, or an indefinite error.
	Verify(ctx context.Context) error
}

// Clock is the time as one client sees it.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
	After(d time.Duration) <-chan time.Time
}

// Env is what a lock needs from its surroundings.
type Env struct {
	// Nodes are the clients of the lock's masters: one, or N independent ones for Redlock.
	Nodes []*redis.Client
	// Dial opens a bare connection to the master of that number, for libraries that bring
	// a client of their own.
	Dial  func(ctx context.Context, node int) (net.Conn, error)
	Clock Clock
	// NewClock returns a clock of the same time for one more goroutine of this client.
	// Two goroutines that wait on one clock may wake at the same instant, and then a run
	// cannot be replayed.
	NewClock func() Clock
	// Rand is the source of owner tokens. One goroutine reads it at a time.
	Rand io.Reader
	// Client identifies the client process, as a UUID does.
	Client string
	// Thread identifies the thread inside its process. Two processes may well use the
	// same number.
	Thread int64
}
