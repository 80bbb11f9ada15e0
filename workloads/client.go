// Package workloads is what clients do with a lock: directed scripts that walk it
// through an exact sequence of steps, and random load.
package workloads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/resource"
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
// Reborn.
type Client struct {
	Name     string
	Worker   int
	Workers  int // of the whole run: a retired process number goes up by this much
	Lock     locks.Locker
	Register map[string]*resource.Register // by key of the lock
	Guard    resource.Guard
	Clock    Clock         // behind Gate, and wrong by Skew
	Skew     *Skew         // nil: its clock cannot be set wrong
	Gate     *nemesis.Gate // closed while the client is paused
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
	holds   atomic.Bool // whether held is set, for others to see
	calls   atomic.Bool // see Calls

	renewed int           // for which life Lock was made
	longest time.Duration // lease that it asked to extend to
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

// Holds says whether the client believes to hold the lock. It may be called at any time.
func (c *Client) Holds() bool { return c.holds.Load() }

// Calls says whether a call of the lock or the register has begun and not ended. It may be
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

// number is the client's current process number.
func (c *Client) number() int { return c.Worker + c.retired*c.Workers }

// Acquire tries once to get the lock on key for ttl. It returns the lock's error.
func (c *Client) Acquire(ctx context.Context, key string, ttl time.Duration) error {
	return c.AcquireAs(ctx, histories.Exclusive, key, ttl)
}

// AcquireAs is Acquire of a lease that may be shared. Shared asks an RWLocker for a
// reader's lease. Inside a section of the client it begins an inner one.
func (c *Client) AcquireAs(ctx context.Context, mode histories.Mode, key string, ttl time.Duration) error {
	e, life := c.attempt(mode, key, ttl)
	acquire := c.Lock.Acquire
	if mode == histories.Shared {
		rw, ok := c.Lock.(locks.RWLocker)
		if !ok {
			return errors.New("the lock has no leases for readers")
		}
		acquire = rw.AcquireRead
	}
	return c.acquire(ctx, life, e, acquire)
}

// Await acquires the lock on key for ttl, and waits for it as the lock's source does. What
// that cost is recorded. A lock whose source does not wait is tried again and again, at an
// interval of a twentieth of the TTL, and what that costs says nothing of it.
func (c *Client) Await(ctx context.Context, key string, ttl time.Duration) error {
	e, life := c.attempt(histories.Exclusive, key, ttl)
	lock, ok := c.Lock.(locks.Patient)
	if !ok {
		poll := locks.Interval{Every: max(ttl/20, time.Millisecond), Clock: c.Clock}
		return c.acquire(ctx, life, e, func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
			return locks.AcquireWait(ctx, c.Lock, key, ttl, poll)
		})
	}
	if c.Sent == nil {
		return c.acquire(ctx, life, e, lock.Await)
	}
	before := c.Sent()
	err := c.acquire(ctx, life, e, lock.Await)
	c.waited(life, e, c.Sent()-before)
	return err
}

// waited records what an acquire cost.
func (c *Client) waited(life int, e histories.Event, commands int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives != life || c.crashed {
		return
	}
	c.Recorder.Record(histories.Event{
		Process: c.number(), Worker: c.Worker, Type: histories.Info, F: histories.Waited,
		Key: e.Key, Attempt: e.Attempt, Value: fmt.Sprint(commands),
	})
}

// attempt begins an attempt: its first event, and whose it is.
func (c *Client) attempt(mode histories.Mode, key string, ttl time.Duration) (histories.Event, int) {
	e := histories.Event{F: histories.Acquire, Key: key, Attempt: c.Rand.Uint64() >> 11, TTL: ttl, Value: string(mode)}
	c.Clock.Now() // stands still while the client is paused
	life := c.Life()
	if life != c.renewed && c.Renew != nil {
		c.Lock = c.Renew()
	}
	c.renewed = life
	return e, life
}

// acquire makes an attempt by one of the lock's methods.
func (c *Client) acquire(ctx context.Context, life int, e histories.Event, by func(context.Context, string, time.Duration) (locks.Lease, error)) error {
	key, ttl := e.Key, e.TTL
	var lease locks.Lease
	owed := c.Now() + ttl
	var asked time.Time
	return c.call(ctx, life, e, func(ctx context.Context, done *histories.Event) (err error) {
		asked = c.Clock.Now()
		if lease, err = by(ctx, key, ttl); err != nil {
			return err
		}
		done.Token, done.Deadline = lease.Token(), c.told(lease)
		return nil
	}, func() {
		c.hold(&section{
			outer: c.held, access: c.enter(lease, key), lease: lease, life: life, key: key, attempt: e.Attempt,
			owed: owed, asked: asked, ttl: ttl, over: make(chan struct{}),
		})
		if w, ok := lease.(locks.Watched); ok {
			go c.watch(ctx, c.held, w)
		}
	})
}

// told is the end of the lease that its holder was told, as its clock shows it at this moment,
// on the run's clock; 0 if none. A wrong clock thus makes a wrong belief, and a lock that hands
// out a lease which ends too late by it is accused. A clock that goes wrong later does not
// change what was told: what its holder then does too late is judged by what happens to the
// resource.
func (c *Client) told(lease locks.Lease) time.Duration {
	end := lease.Deadline()
	if end.IsZero() {
		return 0
	}
	left := c.Skew.lasts(end.Sub(c.Clock.Now()))
	return c.Now() + left
}

// Overdue says whether the innermost lease is over by the client's clock, so that who trusts
// its lock works no more under it: at the deadline that it was told last, or if it was told none
// a TTL after it asked, less the clock drift that Redlock allows for. Who holds none has nothing
// to rely on.
func (c *Client) Overdue() bool {
	s := c.section()
	if s == nil {
		return true
	}
	ends := s.lease.Deadline()
	if ends.IsZero() {
		ends = s.asked.Add(s.ttl)
	}
	return !c.Clock.Now().Before(ends.Add(-s.ttl/100 - 2*time.Millisecond))
}

func (c *Client) enter(lease locks.Lease, key string) Section {
	if c.Enter != nil {
		return c.Enter(lease)
	}
	return c.Guard.Enter(c.Register[key], lease, c.Clock)
}

// Release gives the innermost lease back. Whatever the outcome, the client stops believing
// in it.
func (c *Client) Release(ctx context.Context) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	c.mu.Lock()
	if c.held == s { // it may have been lost, or its client have crashed, by now
		c.hold(s.outer)
	}
	c.mu.Unlock()
	c.last = s
	return c.release(ctx, s)
}

// ReleaseAgain gives the lease back that was given back last, as a program does that releases
// where it is done and once more where it cleans up.
func (c *Client) ReleaseAgain(ctx context.Context) error {
	if c.last == nil {
		return ErrNotHolding
	}
	return c.release(ctx, c.last)
}

func (c *Client) release(ctx context.Context, s *section) error {
	return c.call(ctx, s.life, s.event(histories.Release), func(ctx context.Context, _ *histories.Event) error {
		return s.lease.Release(ctx)
	}, nil)
}

// Read reads the protected register inside the critical section.
func (c *Client) Read(ctx context.Context) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.call(ctx, s.life, s.event(histories.Read), func(ctx context.Context, done *histories.Event) (err error) {
		if s.seen, err = s.access.Read(ctx); err != nil {
			return err
		}
		done.Version, done.Value, done.Token = s.seen.Version, fmt.Sprint(s.seen.Value), s.access.Token()
		return nil
	}, nil)
}

// Write stores what Read saw, plus one.
func (c *Client) Write(ctx context.Context) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.write(ctx, s, histories.Write, s.seen.Value+1)
}

// Draw takes the prize of a round, by writing its number.
func (c *Client) Draw(ctx context.Context, round int64) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.write(ctx, s, histories.Draw, round)
}

func (c *Client) write(ctx context.Context, s *section, f histories.F, value int64) error {
	e := s.event(f)
	e.Value = fmt.Sprint(value)
	return c.call(ctx, s.life, e, func(ctx context.Context, done *histories.Event) error {
		state, err := s.access.Write(ctx, value)
		if err != nil {
			return err
		}
		done.Version, done.Token = state.Version, s.access.Token()
		return nil
	}, nil)
}

// Incr increments the register as a counter, in one call: it reads, works for a while and
// writes one more.
func (c *Client) Incr(ctx context.Context, work time.Duration) error {
	s := c.section()
	if s == nil {
		return ErrNotHolding
	}
	return c.callWith(ctx, work+c.Timeout, s.life, s.event(histories.Incr), func(timed context.Context, done *histories.Event) (err error) {
		if s.seen, err = s.access.Read(timed); err != nil {
			return err
		}
		// Work takes as long as it takes: only commands have a time-out, each its own.
		if err := c.Clock.Sleep(ctx, work); err != nil {
			return err
		}
		if !c.alive(s.life) {
			return errCrashed // a dead client sends nothing
		}
		timed, cancel := context.WithTimeout(ctx, c.Clock.In(c.Timeout))
		defer cancel()
		state, err := s.access.Write(timed, s.seen.Value+1)
		if err != nil {
			return err
		}
		done.Value, done.Version, done.Token = fmt.Sprint(s.seen.Value+1), state.Version, s.access.Token()
		return nil
	}, nil)
}

// Count asks a re-entrant lock how often the client holds key.
func (c *Client) Count(ctx context.Context, key string) error {
	lock, ok := c.Lock.(locks.Reentrant)
	if !ok {
		return errors.New("the lock does not count")
	}
	return c.call(ctx, c.Life(), histories.Event{F: histories.Count, Key: key}, func(ctx context.Context, done *histories.Event) error {
		n, err := lock.Count(ctx, key)
		if err != nil {
			return err
		}
		done.Value = fmt.Sprint(n)
		return nil
	}, nil)
}

// Crash ends the client by kill: it believes nothing any more, and until Reborn it does
// nothing any more. A call that it is in has no outcome, as nobody is left to learn it. It
// may be called at any time.
func (c *Client) Crash(kill func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := kill(); err != nil {
		return err
	}
	c.Recorder.Record(histories.Event{Process: c.number(), Worker: c.Worker, Type: histories.Info, F: histories.Crash})
	c.retired++
	c.lives++
	c.crashed = true
	c.hold(nil)
	return nil
}

// dead says whether the client has crashed and nobody has taken its place.
func (c *Client) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.crashed
}

// Reborn lets another client, with a new process number, go on in the place of one that
// crashed.
func (c *Client) Reborn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crashed = false
}

// alive says whether the client of a life is still there.
func (c *Client) alive(life int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lives == life && !c.crashed
}

// Life is how many clients have been in this one's place before. It may be called at any time.
func (c *Client) Life() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lives
}

func (s *section) event(f histories.F) histories.Event {
	return histories.Event{F: f, Key: s.key, Attempt: s.attempt, Token: s.access.Token()}
}

// reason is why an acquire or extend was refused; empty: somebody else holds the lock, or may.
func reason(err error) string {
	if _, ok := errors.AsType[*locks.InputError](err); ok {
		return histories.Invalid
	}
	if errors.Is(err, locks.ErrTaken) || errors.Is(err, locks.ErrNotHeld) {
		return ""
	}
	return histories.Rejected
}

// call records e, makes the call, and records what became of it; if it succeeded, then
// is called before anything else can happen to the client. life is whose call it is: one of
// a client that has crashed is neither made nor recorded.
func (c *Client) call(ctx context.Context, life int, e histories.Event, f func(context.Context, *histories.Event) error, then func()) error {
	return c.callWith(ctx, 0, life, e, f, then)
}

// callWith is a call that may take extra longer than others, besides its time-out.
func (c *Client) callWith(ctx context.Context, extra time.Duration, life int, e histories.Event, f func(context.Context, *histories.Event) error, then func()) error {
	c.Clock.Now() // stands still while the client is paused, before anything is recorded
	ctx, cancel := context.WithTimeout(ctx, c.Clock.In(c.Timeout))
	defer cancel()
	done, ok := c.invoke(life, e)
	if !ok {
		return errCrashed
	}
	c.calls.Store(true)
	done, err := c.limited(ctx, extra, done, f)
	c.calls.Store(false)
	done.Type = outcome(err)
	if err != nil {
		done.Err = err.Error()
	}
	if e.F == histories.Acquire && done.Type == histories.Fail {
		done.Value = reason(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives != life {
		return errCrashed
	}
	c.Recorder.Record(done)
	if h, ok := errors.AsType[*HungError](err); ok {
		h.Call = e.F
		c.hung(e, h)
	}
	if done.Type == histories.Info {
		c.retired++
	}
	if err == nil && then != nil {
		then()
	}
	return err
}

// invoke records that e begins, and returns what its completion has in common with it.
func (c *Client) invoke(life int, e histories.Event) (histories.Event, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives != life || c.crashed {
		return e, false
	}
	e.Process, e.Worker, e.Type = c.number(), c.Worker, histories.Invoke
	c.Recorder.Record(e)
	return e, true
}

// outcome says what is certain after err. What the lock or the guard refused did not
// happen; of any other error nobody knows.
func outcome(err error) histories.Type {
	switch {
	case err == nil:
		return histories.OK
	case resource.Refused(err), locks.Classify(err) == locks.Refused:
		return histories.Fail
	}
	return histories.Info
}
