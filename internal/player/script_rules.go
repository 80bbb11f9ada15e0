package player

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// rule holds up the next command of a client that fits, on one server or several.
type rule struct {
	holds   []*wire.Hold
	nodes   []string
	reply   bool         // what it holds up is a reply
	met     *undertaking // the call in whose midst it met the command; nil: none
	started bool         // it has met what it holds up, and is a fault
	came    atomic.Value // a time.Time: when the last command came that it was tried on
}

// noting is a match that notes when a command comes, before servers are asked whether it is the one.
func (r *rule) noting(clock Clock, m wire.Match) wire.Match {
	if fits := m.Before; fits != nil {
		m.Before = func(cmd wire.Command) bool {
			r.came.Store(clock.Now())
			return fits(cmd)
		}
	}
	return m
}

func (r *rule) release() {
	for _, h := range r.holds {
		h.Release()
	}
}

// once is a fault that hits one command of the client's next call.
type once struct {
	fault histories.F
	free  bool // whether the first key's lock was certainly free before it
	op    int  // the call that it is about; 0: any
}

// scripts are the commands that run a script, or a function.
func scripts(more ...string) []string { return append(more, "EVAL", "EVALSHA", "FCALL") }

// arm makes a rule for the next command of a client that fits.
func (s *Stage) arm(ctx context.Context, p schedule.Step) error {
	c, err := s.client(p.Who[0])
	if err != nil {
		return err
	}
	nodes, err := s.nodes(p.On)
	if err != nil || len(nodes) == 0 {
		return err
	}
	if p.Action != schedule.Hold {
		return s.armOnce(ctx, c, nodes[0], p)
	}
	r := &rule{nodes: nodes, reply: p.Reply}
	for _, node := range nodes {
		m, err := s.Match(node, p)
		if err != nil {
			r.release()
			return err
		}
		m = s.within(c, p, r.noting(s.Clock, m))
		link := s.Cluster.Link(s.Process(c), node)
		if p.Reply {
			r.holds = append(r.holds, link.HoldReply(m))
		} else {
			r.holds = append(r.holds, link.HoldRequest(m))
		}
	}
	if s.rules == nil {
		s.rules = map[string][]*rule{}
	}
	s.rules[c.Name] = append(s.rules[c.Name], r)
	return nil
}

// armOnce begins a fault that hits one command of the client's next call and ends with the call. In a lane it ends when the call that it
// is about is waited for, or the lane is.
func (s *Stage) armOnce(ctx context.Context, c *Client, node string, p schedule.Step) error {
	if err := s.finish(ctx, c); err != nil {
		return err
	}
	m, err := s.Match(node, p)
	if err != nil {
		return err
	}
	m = s.within(c, p, m)
	if s.once == nil {
		s.once = map[string]once{}
	}
	free := s.free(c, s.Keys[0])
	link := s.Cluster.Link(s.Process(c), node)
	fault := nemesis.LostReply(c.Name, link, m)
	if p.Action == schedule.Twice {
		fault = nemesis.Duplicate(c.Name, link, m)
	}
	s.once[c.Name] = once{fault.F, free, p.Op}
	return s.Nemesis.Start(ctx, fault)
}

// settle ends what was to hit one command of the call that has ended. That it hit none is a *MissedError.
func (s *Stage) settle(ctx context.Context, c *Client) error {
	hit, ok := s.once[c.Name]
	if !ok {
		return nil
	}
	delete(s.once, c.Name)
	return s.freely(hit.free, s.heal(ctx, hit.fault, c.Name))
}

// Match matches the command that a rule is about.
func (s *Stage) Match(node string, p schedule.Step) (wire.Match, error) {
	if node == s.register() {
		return wire.Match{Names: commands(p.What)}, nil
	}
	d, err := s.deciding(node)
	if err != nil {
		return wire.Match{}, err
	}
	switch p.What {
	case schedule.Takes:
		if p.Reply {
			return d.taken(), nil
		}
		return d.takes(), nil
	case schedule.Extends, schedule.Frees:
		return d.writes(), nil
	case schedule.Looks:
		return d.looks(), nil
	}
	if slices.Contains(keyless(), p.What) {
		return wire.Match{Names: []string{p.What}}, nil
	}
	return s.onLock(commands(p.What)...)
}

// within is a match that heeds in which call of the client a command is sent, and how many fitted before.
func (s *Stage) within(c *Client, p schedule.Step, m wire.Match) wire.Match {
	m.Nth = p.Nth
	if p.Op == 0 {
		return m
	}
	made, before := s.calls[c.Name], m.Before
	m.Before = func(cmd wire.Command) bool { return made.in(p.Op) && (before == nil || before(cmd)) }
	return m
}

// keyless are the commands that name no key, so that a rule for one cannot look for the lock's.
func keyless() []string {
	return []string{"AUTH", "CLIENT", "DISCARD", "EXEC", "HELLO", "MULTI", "PING", "SELECT", "TIME", "UNWATCH", "WAIT", "WAITAOF"}
}

// commands are the commands of Redis that a name in a rule stands for.
func commands(name string) []string {
	if name == schedule.Script {
		return scripts()
	}
	return []string{name}
}

// nodes are the servers that a step names, of those that the lock has.
func (s *Stage) nodes(on []string) (nodes []string, err error) {
	if len(on) == 0 {
		on = []string{"1"}
	}
	for _, name := range on {
		switch name {
		case schedule.All:
			for shard := range s.Shards {
				nodes = append(nodes, s.Cluster.Primary(shard))
			}
			continue
		case schedule.Register:
			nodes = append(nodes, s.register())
			continue
		}
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("want a server, a number from 1 on, found %q", name)
		}
		if n <= s.Shards { // the lock may have fewer masters than the schedule was written for
			nodes = append(nodes, s.Cluster.Primary(n-1))
		}
	}
	return nodes, nil
}

// Process is the client whose connections a client uses: that of the first thread of its process.
func (s *Stage) Process(c *Client) string {
	if c.Worker < s.Threads {
		return s.Clients[0].Name
	}
	return c.Name
}

// isHeld waits until the newest rule of a client has met what it holds up, which is a fault from then on.
func (s *Stage) isHeld(ctx context.Context, c *Client) error {
	r := s.newest(c)
	if r == nil {
		return &MissedError{Why: "no rule holds up anything of " + c.Name}
	}
	if r.started {
		return nil
	}
	r.met = s.pending[c]
	wait, began := s.seen, s.Clock.Now()
	if r.met == nil {
		wait = s.renewing
	}
	for _, h := range r.holds {
		if err := wait(ctx, c, h); err != nil {
			r.release()
			s.forget(c, r)
			return s.freely(s.freeBefore[c], err)
		}
	}
	r.started = true
	if came, ok := r.came.Load().(time.Time); ok && r.met == nil && came.After(began) {
		s.since = came
	}
	return s.Nemesis.Start(ctx, nemesis.Hold(c.Name, r.holds...))
}

// isAsked waits until the newest rule of a client has met a command; its reply may not have come yet.
func (s *Stage) isAsked(ctx context.Context, c *Client) error {
	r := s.newest(c)
	if r == nil || s.pending[c] == nil {
		return &MissedError{Why: "no rule is for a command of a call that " + c.Name + " is in"}
	}
	for _, h := range r.holds {
		if err := s.matched(ctx, c, h); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stage) newest(c *Client) *rule {
	all := s.rules[c.Name]
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// forget drops a rule that has ended.
func (s *Stage) forget(c *Client, r *rule) {
	var left []*rule
	for _, o := range s.rules[c.Name] {
		if o != r {
			left = append(left, o)
		}
	}
	s.rules[c.Name] = left
}

// seen waits until a rule has stopped a command of c, which is in a call.
func (s *Stage) seen(ctx context.Context, c *Client, hold *wire.Hold) error {
	select {
	case <-hold.Seen():
		return nil
	case <-s.pending[c].done:
		select {
		case <-hold.Seen(): // a lock may return before all its commands are answered
			return nil
		default:
		}
		hold.Release()
		why := c.Name + "'s call ended and sent no command that the rule could hold"
		if err := s.pending[c].err; locks.Classify(err) == locks.Refused && !errors.Is(err, ErrNotHolding) {
			return &UnplayableError{Why: why + ": it was refused"}
		}
		return &MissedError{Why: why}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// matched waits until a rule has found a command of c, which is in a call.
func (s *Stage) matched(ctx context.Context, c *Client, hold *wire.Hold) error {
	for !hold.Matched() {
		select {
		case <-s.pending[c].done:
			hold.Release()
			return &MissedError{Why: c.Name + "'s call ended and sent no command that the rule could hold"}
		default:
		}
		if err := s.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
	}
	return nil
}
