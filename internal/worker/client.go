package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/locks"
)

// longestWait is how long a worker waits that is given no deadline.
const longestWait = time.Minute

// Client is one client of a run: a worker process, and after a crash the next one. It is the
// lock as that client uses it. One call at a time.
type Client struct {
	main    *Client // whose process it is, of another thread of that; nil: its own
	thread  int64   // 0 is the first of the process
	fleet   *Fleet
	name    string
	setting func(life int) Setting
	log     io.WriteCloser

	mu      sync.Mutex
	process *process
	life    int
	pid     int // of the last process that has said hello
}

// What its worker and the lock in it cannot do is an error of the run.
var (
	_ locks.RWLocker  = (*Client)(nil)
	_ locks.Reentrant = (*Client)(nil)
	_ locks.Defaulter = (*Client)(nil)
)

// start starts a process, and makes it the client's.
func (c *Client) start(ctx context.Context) error {
	var stderr io.Writer
	if c.log != nil {
		stderr = c.log
	}
	p, err := start(c.fleet.run, c.fleet.launcher, c.name, c.fleet.command, stderr, c.fleet.grace, c.fleet.fail)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.process = p
	set := c.setting(c.life)
	set.Connect = c.life == 0 // a later one begins whatever other faults there are
	c.life++
	c.mu.Unlock()
	hello, err := p.hello(ctx, set.Lock)
	if err != nil {
		return err
	}
	for _, capability := range c.fleet.need {
		if !slices.Contains(hello.Can, capability) {
			err = fmt.Errorf("cannot run %s: %w", c.fleet.needed, &LacksError{Can: hello.Can, Capability: capability})
			break
		}
	}
	if err == nil {
		pid := p.cmd.Process.Pid
		if hello.PID != 0 {
			pid = hello.PID
		}
		p.subject, err = osproc.Find(ctx, pid)
		c.mu.Lock()
		c.pid = pid
		c.mu.Unlock()
	}
	if err != nil {
		p.fail(err)
		return p.useless()
	}
	done, err := p.call(ctx, Request{Op: Configure, Setting: &set})
	if err == nil && done.Type != OK {
		p.fail(fmt.Errorf("answers configure with %q (%s), want %q", done.Type, done.Error, OK))
		err = p.useless()
	}
	return err
}

// Said is what the hello of the client's worker says of its lock. Keys are nil if it does not
// say where the lock is kept.
func (c *Client) Said() locks.Spec { return c.current().spec }

// Thread returns the client as another thread of its process, numbered from 1 on, which may make
// a call while others do.
func (c *Client) Thread(n int) *Client {
	return &Client{main: c, thread: int64(n), fleet: c.fleet, name: c.name}
}

func (c *Client) current() *process {
	if c.main != nil {
		return c.main.current()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

func (c *Client) close() error {
	var errs []error
	if p := c.current(); p != nil {
		errs = append(errs, p.end())
	}
	if c.log != nil {
		errs = append(errs, c.log.Close())
	}
	return errors.Join(errs...)
}

// Suspend stops the client's process by SIGSTOP, and returns what was seen of it.
func (c *Client) Suspend(ctx context.Context) (string, error) {
	p := c.current()
	return p.observed(p.suspend(ctx))
}

// Resume lets it go on by SIGCONT, unless it was killed while it stood still.
func (c *Client) Resume(ctx context.Context) (string, error) {
	p := c.current()
	if p.isKilled() {
		return p.isGone(), nil
	}
	return p.observed(p.resume(ctx))
}

func (p *process) observed(state osproc.State, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("process %d is in state %s", p.subject.PID, state), nil
}

// PID is the id of the process in which the client lives now, or did last.
// It may be called at any time.
func (c *Client) PID() int {
	if c.main != nil {
		return c.main.PID()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}

// Kill ends the client's process by SIGKILL. Calls fail until Restart.
func (c *Client) Kill(context.Context) (string, error) {
	p := c.current()
	if err := p.kill(); err != nil {
		return "", err
	}
	return p.isGone(), nil
}

func (p *process) isGone() string {
	pid := p.cmd.Process.Pid
	if p.subject != nil {
		pid = p.subject.PID
	}
	return fmt.Sprintf("process %d is gone", pid)
}

// Restart starts the client's next process.
func (c *Client) Restart(ctx context.Context) (string, error) {
	if c.main != nil {
		return c.main.Restart(ctx)
	}
	if err := c.start(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("process %d takes its place", c.current().subject.PID), nil
}

// LacksError says that a worker has not told of a capability that a run needs.
type LacksError struct {
	Can        []string
	Capability string
}

func (e *LacksError) Error() string {
	return fmt.Sprintf("its hello says that it can %q, want %q among it", e.Can, e.Capability)
}

// able ends a process that is asked for what it has not said that it can.
func (p *process) able(capability string, op Op) error {
	if slices.Contains(p.can, capability) {
		return nil
	}
	p.fail(fmt.Errorf("cannot do what %s asks for: %w", op, &LacksError{Can: p.can, Capability: capability}))
	return p.useless()
}

// Acquire lets the worker try once. A ttl of 0 is refused, as a worker that is given none would take its default.
func (c *Client) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if ttl == 0 {
		return nil, locks.CheckInput(key, ttl)
	}
	return c.acquire(ctx, Request{}, key, ttl)
}

// Locker is the client as the lock that its worker can be: a locks.Patient if that can wait.
func (c *Client) Locker() locks.Locker {
	if slices.Contains(c.current().can, CanWait) {
		return patient{c}
	}
	return c
}

// patient is a client whose worker waits as its lock does.
type patient struct{ *Client }

var _ locks.Patient = patient{}

// Await lets the worker wait for the lock, until so long before the deadline of ctx that its
// answer comes in time.
func (c patient) Await(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	wait := longestWait
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		wait = max(left-time.Second, left/2)
	}
	return c.acquire(ctx, Request{Wait: milliseconds(wait)}, key, ttl)
}

// AcquireWrite is Acquire.
func (c *Client) AcquireWrite(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	return c.Acquire(ctx, key, ttl)
}

// AcquireRead lets the worker try once to get a reader's lease.
func (c *Client) AcquireRead(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	// A worker that does not know of modes would take an exclusive lease.
	if err := c.current().able(CanShare, Acquire); err != nil {
		return nil, err
	}
	return c.acquire(ctx, Request{Mode: Shared}, key, ttl)
}

// AcquireDefault lets the worker try once, without saying for how long.
func (c *Client) AcquireDefault(ctx context.Context, key string) (locks.Lease, error) {
	if err := c.current().able(CanWithoutTTL, Acquire); err != nil {
		return nil, err
	}
	return c.acquire(ctx, Request{}, key, 0)
}

// Count asks the worker how often it holds key, as its lock counts that.
func (c *Client) Count(ctx context.Context, key string) (int64, error) {
	p := c.current()
	if err := p.able(CanReenter, Count); err != nil {
		return 0, err
	}
	a, err := p.call(ctx, Request{Op: Count, Key: key, Thread: c.thread})
	if err == nil {
		err = refused(a, locks.ErrNotHeld)
	}
	return a.Count, err
}

// acquire makes the request r, whose mode and wait are set.
func (c *Client) acquire(ctx context.Context, r Request, key string, ttl time.Duration) (locks.Lease, error) {
	p, began := c.current(), time.Now()
	r.Op, r.Key, r.TTL, r.Thread = Acquire, key, milliseconds(ttl), c.thread
	a, err := p.call(ctx, r)
	if err != nil {
		return nil, err
	}
	lease := &Lease{process: p, thread: c.thread, id: a.ID, token: a.Token, deadline: deadline(began, a), lost: a.gone}
	switch err := refused(a, locks.ErrTaken); {
	case err == nil:
		return lease, nil
	case errors.Is(err, locks.ErrTaken) && r.Wait == 0 && slices.Contains(p.can, CanReleaseRefused):
		return nil, &locks.RefusedError{Lease: lease, Err: err}
	default:
		return nil, err
	}
}
