package player

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// ErrNotHolding says that a client was asked to use a lock that it does not hold.
var ErrNotHolding = errors.New("client does not hold the lock")

// errCrashed is the outcome of a call in whose middle the client crashed: none.
var errCrashed = errors.New("client has crashed")

// Section is what a client does with the register under a lease; see resource.Section.
type Section interface {
	Read(ctx context.Context) (resource.State, error)
	Write(ctx context.Context, value int64) (resource.State, error)
	Token() int64
}

// Client is one worker: it calls the lock and the register one call at a time and
// records each. It is not safe for concurrent use, except Holds, Calls, Life, Crash and
// Restart.
type Client struct {
	Name     string
	Worker   int
	Workers  int // of the whole run: a retired process number goes up by this much
	Lock     locks.Locker
	Register map[string]*resource.Register // by key of the lock
	Guard    resource.Guard
	Clock    Clock         // behind Gate and Thread, and wrong by Skew
	Skew     *Skew         // nil: its clock cannot be set wrong
	Gate     *nemesis.Gate // closed while the client is paused
	Thread   *nemesis.Gate // closed while it is paused, and other threads of its process are not; nil: it is no thread
	View     *cluster.View // what it takes for the lock's servers
	Recorder *histories.Recorder
	Now      func() time.Duration // the run's clock
	Rand     *rand.Rand
	Whim     *rand.Rand    // of whether random load extends
	Timeout  time.Duration // of one call
	// Process is what the client runs in; nil: our own.
	Process nemesis.Process
	// Enter begins the section of a lease; nil: by Guard and Register.
	Enter func(locks.Lease) Section
	// Sent is how many commands the client has sent to the lock's servers; nil: that is not
	// counted, as it shares its connections with others.
	Sent func() int
	// Extends says that the lock offers to extend leases.
	Extends bool
	// ExtendAdds says that extending a lease adds to what is left of it.
	ExtendAdds bool
	// Patience is over after d of the run's clock, which stands still for nobody. Nil: that of
	// Clock.
	Patience func(d time.Duration) <-chan time.Time
	// Grace is how long after the end of its context a call may still take. 0 means ten seconds,
	// or a minute of a client with a process of its own.
	Grace time.Duration
	// Hangs is told of calls that do not return. Nil: nobody is.
	Hangs *Hangs
	// Renew makes the lock of a client that takes the place of a crashed one; nil: the lock
	// knows nothing that a crash would wipe out.
	Renew func() locks.Locker

	mu      sync.Mutex // of what a crash changes; see Crash
	retired int
	lives   int // crashes so far
	crashed bool
	held    *section    // the innermost
	last    *section    // that was released; see ReleaseAgain
	refused *refusal    // of the latest acquire; nil: it was not refused, or leaves nothing to release
	holds   atomic.Bool // whether held is set, for others to see
	calls   atomic.Bool // see Calls

	renewed int           // for which life Lock was made
	longest time.Duration // lease that it asked to extend to, or may have by default
}

// section is a lock that the client believes to hold, and what it did under it.
type section struct {
	outer   *section // inside which this one was begun; nil if none
	access  Section
	lease   locks.Lease
	life    int
	key     string
	attempt uint64
	seen    resource.State
	owed    time.Duration // when the lease ends that was asked for, on the run's clock
	asked   time.Time     // for the lease, by the client's clock
	ttl     time.Duration // that it asked for
	over    chan struct{} // closed when the client does not hold it any more
}

// refusal is an acquire that was refused, and what its client could release.
type refusal struct {
	lease   locks.Lease
	life    int
	key     string
	attempt uint64
}

// Holds reports whether the client believes to hold the lock. It may be called at any time.
func (c *Client) Holds() bool { return c.holds.Load() }

// Calls reports whether a call of the lock or the register has begun and not ended. It may be
// called at any time.
func (c *Client) Calls() bool { return c.calls.Load() }

// hold makes s the innermost section: one inside the present one, or one around it, or nil
// for none. It is called with mu.
func (c *Client) hold(s *section) {
	if s == nil || s.outer != c.held {
		for ended := c.held; ended != s; ended = ended.outer {
			close(ended.over)
		}
	}
	c.held = s
	c.holds.Store(s != nil)
}

// Depth is how many leases the client believes to have, one inside the other.
func (c *Client) Depth() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for s := c.held; s != nil; s = s.outer {
		n++
	}
	return n
}

// section is what the client holds, the innermost, or nil.
func (c *Client) section() *section {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// Held is the key that the client holds, the innermost, and what it last saw of the register under it; ok is false if it holds none.
func (c *Client) Held() (key string, seen resource.State, ok bool) {
	if s := c.section(); s != nil {
		return s.key, s.seen, true
	}
	return "", resource.State{}, false
}

// number is the client's current process number.
func (c *Client) number() int { return c.Worker + c.retired*c.Workers }

func (s *section) event(f histories.F) histories.Event {
	return histories.Event{F: f, Key: s.key, Attempt: s.attempt, Token: s.access.Token()}
}
