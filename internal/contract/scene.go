package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/locks"
)

const (
	// short is about the length of a lease that a clause waits for: short enough for a
	// real server, and long enough for a busy machine to use it.
	short = 600 * time.Millisecond
	// long is a lease that never ends before its test does.
	long = time.Minute
	// slack is how much later than promised a server may let a key expire.
	slack = 20 * time.Millisecond
	// patience is for how long a call of an endless lock may go on before the network breaks its
	// connection: longer than any lock waits that has time-outs of its own.
	patience = 40 * time.Second
	// goodbye bounds the release of what a clause still holds at its end.
	goodbye = time.Second
)

// scene is what one clause plays in.
type scene struct {
	World
	ctx  context.Context
	spec locks.Spec
	key  string
	ttl  time.Duration // of a lease that is waited for
	ends []func()
	// broken says that clients may meet a connection that the network has broken.
	broken bool
}

func newScene(ctx context.Context, spec locks.Spec, w World) *scene {
	s := &scene{World: w, ctx: ctx, spec: spec, key: w.Key(), ttl: short}
	switch {
	case (spec.Masters > 1 || spec.Renews) && !w.Virtual():
		s.ttl = 2 * time.Second // a server, or a renewal, gets a small part of it, and a busy machine is slow
	case spec.WholeSeconds:
		s.ttl = time.Second
	}
	return s
}

// end takes down whatever the clause has made, the last first.
func (s *scene) end() {
	for i := len(s.ends) - 1; i >= 0; i-- {
		s.ends[i]()
	}
}

// client is one user of the lock.
type client struct {
	locks.Env
	lock  locks.Locker
	scene *scene
}

// client makes one more. A lock that needs it is closed at the end.
func (s *scene) client(name string) *client {
	c := &client{Env: s.Client(name), scene: s}
	c.lock = s.spec.New(c.Env)
	if closer, ok := c.lock.(io.Closer); ok {
		s.ends = append(s.ends, func() { _ = closer.Close() }) // the verdict is in already
	}
	return c
}

// connect opens the client's connections and sends the scripts ahead, so that the next
// command is the lock's own.
func (c *client) connect() error {
	for i, node := range c.Nodes {
		if err := locks.Load(c.scene.ctx, node); err != nil {
			return fmt.Errorf("node %d: %w", i+1, err)
		}
	}
	if lock, ok := c.lock.(locks.Connector); ok {
		return lock.Connect(c.scene.ctx)
	}
	return nil
}

// acquire gets the free lock.
func (c *client) acquire(ttl time.Duration) (locks.Lease, error) {
	return c.get("acquire", c.lock.Acquire, ttl)
}

// acquireRead gets the free lock, shared.
func (c *client) acquireRead(ttl time.Duration) (locks.Lease, error) {
	lock, err := c.shared()
	if err != nil {
		return nil, err
	}
	return c.get("read acquire", lock.AcquireRead, ttl)
}

type acquireFunc func(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error)

func (c *client) get(what string, acquire acquireFunc, ttl time.Duration) (held locks.Lease, err error) {
	s := c.scene
	err = s.settle(func() error {
		held, err = acquire(s.ctx, s.key, ttl)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s of a free lock by %s: %w", what, c.Client, err)
	}
	s.giveBack(held)
	return held, nil
}

// giveBack releases a lease at the end of the clause.
func (s *scene) giveBack(held locks.Lease) {
	s.ends = append(s.ends, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), goodbye)
		defer cancel()
		_ = held.Release(ctx) // most were released by the clause
	})
}

// refused checks that the client does not get the lock.
func (c *client) refused() error { return c.mustBeTaken("acquire", c.lock.Acquire) }

// refusedRead checks that the client does not get the lock as a reader.
func (c *client) refusedRead() error {
	lock, err := c.shared()
	if err != nil {
		return err
	}
	return c.mustBeTaken("read acquire", lock.AcquireRead)
}

func (c *client) mustBeTaken(what string, acquire acquireFunc) error {
	s := c.scene
	var held locks.Lease
	err := s.settle(func() (err error) {
		held, err = acquire(s.ctx, s.key, long)
		return err
	})
	return answered(what+" of a held lock by "+c.Client, held, err, errors.Is(err, locks.ErrTaken), "ErrTaken")
}

// refusal tries to get the held lock, and returns what the client could release if it was refused, or nil.
func (c *client) refusal() *locks.RefusedError {
	s := c.scene
	var held locks.Lease
	err := s.settle(func() (err error) {
		held, err = c.lock.Acquire(s.ctx, s.key, long)
		return err
	})
	if err == nil {
		s.giveBack(held)
	}
	refused, _ := errors.AsType[*locks.RefusedError](err)
	return refused
}

// answered checks that an acquire failed as it should.
func answered(what string, held locks.Lease, err error, ok bool, want string) error {
	switch {
	case held != nil:
		return fmt.Errorf("%s answered a lease and %v, want no lease and %s", what, err, want)
	case !ok:
		return fmt.Errorf("%s answered %v, want %s", what, err, want)
	default:
		return nil
	}
}

func (c *client) shared() (locks.RWLocker, error) { return capable[locks.RWLocker](c.lock) }

// capable returns v as the capability that the lock's Spec promises.
func capable[C any](v any) (C, error) {
	c, ok := v.(C)
	if !ok {
		return c, fmt.Errorf("a %T is no %T, but the lock says that it is one", v, &c)
	}
	return c, nil
}

// release gives back a lease that is held.
func (s *scene) release(held locks.Lease) error {
	if err := held.Release(s.ctx); err != nil {
		return fmt.Errorf("release by the holder: %w", err)
	}
	return nil
}

// settleRelease gives back a lease that is held, until the answer is definite. A call that got no
// definite answer may have done it, and then the next one is told that the lease is not held.
func (s *scene) settleRelease(held locks.Lease) error {
	again := false
	return s.settle(func() error {
		err := s.release(held)
		if again && errors.Is(err, locks.ErrNotHeld) {
			return nil
		}
		again = true
		return err
	})
}

// notHeld checks that a call on a lease that is gone is refused.
func (s *scene) notHeld(what string, call func(context.Context) error) error {
	if err := s.settle(func() error { return call(s.ctx) }); !errors.Is(err, locks.ErrNotHeld) {
		return fmt.Errorf("%s answered %v, want ErrNotHeld", what, err)
	}
	return nil
}

// Heal is as World says.
func (s *scene) Heal(client string) {
	s.World.Heal(client)
	s.broken = true
}

// bounded makes a call of a client that was cut off. If the lock is endless, the network breaks the
// connection at some time, and with it the call.
func (s *scene) bounded(c *client, call func()) {
	if !s.spec.Promises.Endless {
		call()
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	watched, clock := make(chan struct{}), c.NewClock()
	go func() {
		defer close(watched)
		if clock.Sleep(ctx, patience) == nil {
			s.World.Heal(c.Client)
		}
	}()
	call()
	stop()
	<-watched
	s.broken = true
}

// tries is how often a call may be made until its answer is definite. In virtual time only a broken
// connection stands in its way, and only of a client that does not look before it uses one.
func (s *scene) tries() int {
	switch {
	case !s.Virtual():
		return 20
	case s.broken:
		return 2
	default:
		return 1
	}
}

// settle makes a call until its answer is definite.
func (s *scene) settle(call func() error) error {
	err := call()
	for try := 1; try < s.tries() && err != nil && locks.Classify(err) == locks.Indefinite; try++ {
		s.Sleep(slack)
		err = call()
	}
	return err
}

// outlive waits until the leases of c that were acquired for s.ttl have ended. The client
// is cut off meanwhile, so that it cannot renew them.
func (s *scene) outlive(c *client) {
	s.sleepThrough(c)
	s.Heal(c.Client)
}

// sleepThrough is outlive, with the client still cut off at the end.
func (s *scene) sleepThrough(c *client) {
	s.Cut(c.Client)
	s.Sleep(s.ttl + slack)
}
