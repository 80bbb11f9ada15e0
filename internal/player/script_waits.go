package player

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/wire"
)

// waitFor waits for a condition.
func (s *Stage) waitFor(ctx context.Context, p schedule.Step) error {
	who, err := s.clients(p.Who...)
	if err != nil {
		return err
	}
	switch p.What {
	case schedule.LeaseEnds:
		switch {
		case len(who) > 0:
			return s.ownLeaseEnds(ctx, who[0])
		case p.Within != nil:
			return s.sectionLasts(ctx, p)
		}
		return s.leaseEnds(ctx)
	case schedule.LeaseAges:
		left, _, err := s.left(who[0])
		if err != nil {
			return err
		}
		return s.Clock.Sleep(ctx, left-(s.TTL-s.span(p.For)))
	case schedule.Done:
		if p.Op > 0 {
			if err := s.callEnds(ctx, s.Clock, schedule.Ref{Who: p.Who[0], Op: p.Op}); err != nil {
				return err
			}
			if s.once[who[0].Name].op != p.Op {
				return nil
			}
			return s.settle(ctx, who[0])
		}
		if err := s.finishAll(ctx, who); err != nil {
			return err
		}
		for _, c := range who {
			if err := s.settle(ctx, c); err != nil {
				return err
			}
		}
		return nil
	case schedule.Held:
		return s.isHeld(ctx, who[0])
	case schedule.Asked:
		return s.isAsked(ctx, who[0])
	case schedule.Sent:
		return s.isSent(ctx, who[0])
	case schedule.InSync:
		r, err := capability[cluster.Replicator](s, "replicate")
		if err != nil {
			return err
		}
		return r.Sync(ctx, s.Cluster.Primary(0))
	case schedule.RefusesWrites:
		return s.refusesWrites(ctx)
	case schedule.Together:
		return s.beganTogether(ctx, who[0], p.Key)
	}
	return fmt.Errorf("nobody knows how to wait for %q", p.What)
}

// leaseEnds waits until no server of the lock has the key any more.
func (s *Stage) leaseEnds(ctx context.Context) error {
	lock, err := s.kept()
	if err != nil {
		return err
	}
	end := s.Clock.Now().Add(2*s.TTL + s.Slack)
	for {
		shards, left, err := s.held(ctx, lock)
		if err != nil {
			return err
		}
		if shards == 0 {
			return s.unsighted(s.Keys...)
		}
		s.sight()
		rest := end.Sub(s.Clock.Now())
		if rest < 0 {
			return &UnplayableError{Why: fmt.Sprintf("the lock's key is still there after twice its TTL of %v", s.TTL)}
		}
		if err := s.doze(ctx, min(left, rest)); err != nil {
			return err
		}
	}
}

// glance is the pause between two looks.
func (s *Stage) glance(ctx context.Context) error { return s.doze(ctx, 0) }

// doze is as many of these pauses as fit into half of what something will last, and at least one: a look costs
// a real server and its machine more than the pause.
func (s *Stage) doze(ctx context.Context, left time.Duration) error {
	pause := max(s.TTL/200, time.Millisecond)
	return s.Clock.Sleep(ctx, pause*max(left/2/pause, 1))
}

// sectionLasts lets time pass in a holder's section, or the time until no server has a key any more, if
// that is less.
func (s *Stage) sectionLasts(ctx context.Context, p schedule.Step) error {
	key, err := s.key(max(p.Key, 1))
	if err != nil {
		return err
	}
	lock, err := s.kept(key)
	if err != nil {
		return err
	}
	for end := s.Clock.Now().Add(s.span(p.Within)); s.Clock.Now().Before(end); {
		shards, _, err := s.held(ctx, lock)
		if err != nil {
			return err
		}
		if shards == 0 {
			return s.unsighted(key)
		}
		s.sight()
		if err := errors.Join(s.Stopped(ctx), s.glance(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// mostTTLs is how many TTLs a lease may last for a script to wait for its end.
const mostTTLs = 20

// left is how long the lease of a client still lasts, and when it ends, as the lock told it. That it
// holds none is a *MissedError.
func (s *Stage) left(c *Client) (time.Duration, time.Time, error) {
	held := c.section()
	if held == nil {
		return 0, time.Time{}, &MissedError{Why: c.Name + " holds no lease that could end"}
	}
	end := held.lease.Deadline()
	left := end.Sub(s.Clock.Now())
	switch {
	case end.IsZero():
		return 0, end, &UnplayableError{Why: "the lock does not say when its lease ends"}
	case left > mostTTLs*s.TTL:
		return 0, end, &UnplayableError{Why: fmt.Sprintf("the lock says that its lease lasts for another %v, and %v was asked for", left.Round(time.Millisecond), s.TTL)}
	}
	return left, end, nil
}

// ownLeaseEnds waits until the lease of one client is over, and until the lock's servers have let go what
// they let go with it: all keys at best, else what is left after the slack.
func (s *Stage) ownLeaseEnds(ctx context.Context, c *Client) error {
	lock, err := s.kept()
	if err != nil {
		return err
	}
	left, end, err := s.left(c)
	if err != nil {
		return err
	}
	if err := s.Clock.Sleep(ctx, left); err != nil {
		return err
	}
	for {
		n, _, err := s.held(ctx, lock)
		if err != nil || n == 0 || s.Clock.Now().After(end.Add(s.Slack)) {
			return err
		}
		if err := s.glance(ctx); err != nil {
			return err
		}
	}
}

// isSent waits until the call that c is in has sent its first command to a server of the lock, or has ended.
func (s *Stage) isSent(ctx context.Context, c *Client) error {
	call := s.pending[c]
	if call == nil {
		return fmt.Errorf("%s is in no call", c.Name)
	}
	for s.sent() <= call.before {
		if call.over() {
			return nil // it came further than that
		}
		if err := errors.Join(s.Stopped(ctx), s.Clock.Sleep(ctx, beat)); err != nil {
			return err
		}
	}
	return nil
}

// sent is how many commands all clients have sent to the lock's servers.
func (s *Stage) sent() (n int) {
	for _, c := range s.Clients {
		for _, link := range s.lockLinks(c.Name) {
			n += link.Commands()
		}
	}
	return n
}

// renewing waits until a rule has stopped a command that c sends while it is in no call.
func (s *Stage) renewing(ctx context.Context, _ *Client, hold *wire.Hold) error {
	for end := s.Clock.Now().Add(s.TTL); ; {
		select {
		case <-hold.Seen():
			return nil
		default:
		}
		if err := s.Stopped(ctx); err != nil {
			return err
		}
		if s.Clock.Now().After(end) {
			return &UnplayableError{Why: fmt.Sprintf("no renewal came within the TTL of %v: want a lock that renews its leases (lockbench list locks)", s.TTL)}
		}
		if err := s.glance(ctx); err != nil {
			return err
		}
	}
}

// refusesWrites waits until the node that was the first master refuses writes for want of a replica.
func (s *Stage) refusesWrites(ctx context.Context) error {
	c, err := capability[cluster.Commander](s, "be sent commands past the clients")
	if err != nil {
		return err
	}
	old := s.Cluster.Nodes()[0].Name
	end := s.Clock.Now().Add(s.TTL)
	for {
		_, err := c.Do(ctx, old, "DEL", "lockbench:absent")
		var refused wire.ReplyError
		switch {
		case errors.As(err, &refused) && strings.HasPrefix(string(refused), "NOREPLICAS "):
			return nil
		case err != nil:
			return err
		case s.Clock.Now().After(end):
			return fmt.Errorf("%s still takes writes without a replica after %v", old, s.TTL)
		}
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
	}
}

// beganTogether proves that a client's leases on the keys from the first to the n-th began within a quarter
// of a TTL, if a server still has the n-th: else what renews the first may have been free again in time for
// the last.
func (s *Stage) beganTogether(ctx context.Context, c *Client, n int) error {
	last, err := s.key(n)
	if err != nil {
		return err
	}
	lock, err := s.kept(last)
	if err != nil {
		return err
	}
	if there, _, err := s.held(ctx, lock); err != nil || there == 0 {
		return err
	}
	var grants []time.Duration
	for _, e := range s.Recorder.Events() {
		if e.Worker == c.Worker && e.F == histories.Acquire && e.Type == histories.OK {
			grants = append(grants, e.Time)
		}
	}
	if len(grants) < n {
		return &MissedError{Why: fmt.Sprintf("%s was granted %d leases, want %d", c.Name, len(grants), n)}
	}
	if took := grants[n-1] - grants[0]; took > s.TTL/4 {
		return &MissedError{Why: fmt.Sprintf("%s's %d leases began over %v, want %v at most: what renews the first may have been free again in time for the last",
			c.Name, n, took.Round(time.Millisecond), s.TTL/4)}
	}
	return nil
}
