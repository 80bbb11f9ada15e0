package player

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// acquireOf returns the call with which a client acquires.
func (s *Stage) acquireOf(c *Client, p schedule.Step) (func(context.Context) error, error) {
	key, err := s.key(max(p.Key, 1))
	if err != nil {
		return nil, err
	}
	if _, shares := c.Lock.(locks.RWLocker); p.What == schedule.Shared && !shares {
		return nil, &UnplayableError{Why: "this step needs a lock that has readers and writers (lockbench list locks)"}
	}
	once := func(ctx context.Context) error {
		switch p.What {
		case schedule.Shared:
			return c.AcquireAs(ctx, histories.Shared, key.Name, s.span(p.For))
		case schedule.Reentrant:
			return c.AcquireAs(ctx, histories.Reentrant, key.Name, s.span(p.For))
		case schedule.WithoutTTL:
			return c.AcquireDefault(ctx, key.Name, s.DefaultTTL)
		}
		return c.Acquire(ctx, key.Name, s.span(p.For))
	}
	switch {
	case p.Free && (p.Eventually || p.Within != nil): // beside other steps, which may start faults meanwhile
		patience := s.TTL + 2*s.Slack
		if p.Within != nil {
			patience = s.span(p.Within)
		}
		return func(ctx context.Context) error {
			_, err := s.await(ctx, c, key.Name, patience)
			return err
		}, nil
	case p.Eventually:
		return func(ctx context.Context) error {
			if c.Holds() {
				return nil
			}
			return s.wait(ctx, c, s.TTL+2*s.Slack)
		}, nil
	case p.Within != nil:
		return func(ctx context.Context) error { return s.wait(ctx, c, s.span(p.Within)) }, nil
	case p.Tries > 0:
		return func(ctx context.Context) error { return s.often(ctx, c, p.Tries, once) }, nil
	case p.Retries > 0:
		return func(ctx context.Context) error { return s.again(ctx, c, p.Retries, once) }, nil
	case p.GivingUp != nil:
		return func(ctx context.Context) error {
			patience := c.Timeout
			c.Timeout = max(s.span(p.GivingUp), 100*time.Millisecond)
			defer func() { c.Timeout = patience }()
			return once(ctx)
		}, nil
	case p.Free:
		return once, nil
	}
	return func(ctx context.Context) error { return s.ask(ctx, c, once) }, nil
}

// often lets a client try so many times, one right after the other, until it has the lock. It must be
// done within half a TTL, so that no lease has ended meanwhile.
func (s *Stage) often(ctx context.Context, c *Client, tries int, once func(context.Context) error) (err error) {
	began, calm := s.Clock.Now(), s.calm(c)
	for n := range tries {
		err = once(ctx)
		took := s.Clock.Now().Sub(began)
		late, each := took > s.TTL/2, took/time.Duration(n+1)
		switch stopped := s.Stopped(ctx); {
		case late && each >= s.TTL/20 && calm() && !s.Hangs.Any():
			return &UnplayableError{Why: fmt.Sprintf("%s waited %v at each try for a lock that was taken, and this step needs an acquire that is refused %d times within half a TTL",
				c.Name, each.Round(time.Millisecond), tries)}
		case err == nil || s.Hangs.Any():
			return err
		case stopped != nil:
			return stopped
		case late:
			return &MissedError{Why: fmt.Sprintf("half a TTL of %v was enough for %d tries of %d", s.TTL, n+1, tries)}
		}
	}
	return err
}

// again lets a client try up to so many times, until it has the lock or is refused for certain: a
// connection that broke meanwhile costs the first try.
func (s *Stage) again(ctx context.Context, c *Client, tries int, once func(context.Context) error) (err error) {
	for try := range tries {
		if try > 0 {
			if err := c.Clock.Sleep(ctx, beat); err != nil {
				return err
			}
		}
		if err = once(ctx); err == nil || locks.Classify(err) == locks.Refused {
			return err
		}
	}
	return err
}

// proven is a call with which a client acquires the n-th key. That it does not get a lock that was certainly
// free is a *MissedError: what comes after it counts on a holder that there is none of. Whether the lock had
// to grant it is for the judges to say, whose verdicts of failure stand.
func (s *Stage) proven(c *Client, n int, free bool, call func(context.Context) error) (proof func(context.Context) error, stop func()) {
	key := s.Keys[max(n, 1)-1]
	confirmed, stop := s.heed(c, wire.Match{Names: []string{"WAIT", "WAITAOF"}})
	return func(ctx context.Context) error {
		err := call(ctx)
		if free && !granted(err) && !s.excuses(c, confirmed()) {
			return &MissedError{Why: fmt.Sprintf("%s was not given a lock that was free: %v", c.Name, err), Key: key.Name}
		}
		return err
	}, stop
}
