package player

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// How steps prove that they hit the lock.

// sight looks which locks a server holds, of those of which that was not seen yet. It asks each
// server once for all of them: one after the other, many keys would outlive their leases meanwhile.
func (s *Stage) sight() {
	if s.sighted == nil {
		s.sighted = map[string]bool{}
	}
	for shard := range s.Shards {
		unseen := slices.DeleteFunc(slices.Clone(s.Keys), func(k Key) bool { return k.Unknown != nil || s.sighted[k.Name] })
		node := s.Cluster.Primary(shard)
		place, err := s.kept(unseen...)
		if len(unseen) == 0 || err != nil || !s.Cluster.Alive(node) {
			continue
		}
		there := map[string]bool{}
		for _, k := range (deciding{s.Cluster, node, place}).look() {
			there[k.Key] = k.Exists && k.Database == place.Database
		}
		for _, key := range unseen {
			s.sighted[key.Name] = slices.ContainsFunc(key.Kept.Names, func(name string) bool { return there[name] })
		}
	}
}

// unsighted says that none of some locks was seen on any server since this was asked last: no
// lease can have ended then.
func (s *Stage) unsighted(keys ...Key) error {
	seen := false
	var names []string
	for _, key := range keys {
		seen = seen || s.sighted[key.Name]
		names = append(names, key.Kept.String())
		delete(s.sighted, key.Name)
	}
	if most := 3; len(names) > most {
		names = append(names[:most], fmt.Sprintf("one of %d more", len(keys)-most))
	}
	if !seen {
		return &MissedError{Why: fmt.Sprintf("no server was seen to have %s: there was no lease that could end", strings.Join(names, " or "))}
	}
	return nil
}

// mostAsks is how often a client asks that gets no answer.
const mostAsks = 3

// ask lets c try, and again if no server answered a command on the lock, such as because its
// connection died with one. That no answer comes is a *MissedError, unless a fault explains it.
// What a server answers is an answer, also if it leaves the outcome open.
func (s *Stage) ask(ctx context.Context, c *Client, try func(context.Context) error) error {
	for n := 1; ; n++ {
		answered, stop := s.listen(c)
		err := try(ctx)
		stop()
		if err == nil || locks.Classify(err) == locks.Refused || answered() || s.explains(c) || s.Hangs.Any() {
			return err
		}
		if stop := s.Stopped(ctx); stop != nil {
			return stop
		}
		if n == mostAsks {
			return &MissedError{Why: fmt.Sprintf("%s asked %d times and got no answer: %v", c.Name, n, err)}
		}
		if err := c.Clock.Sleep(ctx, beat); err != nil {
			return err
		}
	}
}

// listen notes whether a server answers a command of c on one of the locks, or of any client if c
// shares its connections, until stop is called. The commands that set up a connection are none of
// these. Where it is not known where a lock is kept, every command may be on it.
func (s *Stage) listen(c *Client) (answered func() bool, stop func()) {
	place, err := s.kept()
	if err != nil {
		return s.heed(c, wire.Match{})
	}
	return s.heed(c, wire.Match{Database: place.Database, Keys: place.Names}) // one rule: a stage may have hundreds of locks
}

// heed notes whether a server of the lock answers a command of c that fits m, or of any client if
// c shares its connections, until stop is called.
func (s *Stage) heed(c *Client, m wire.Match) (answered func() bool, stop func()) {
	clients := []*Client{c}
	if c.Sent == nil {
		clients = s.Clients
	}
	var heard atomic.Bool
	m.Effect = func(wire.Command) func() bool {
		return func() bool { heard.Store(true); return false } // and lets the reply pass
	}
	var rules []*wire.Hold
	for _, o := range clients {
		for _, link := range s.lockLinks(o.Name) {
			rules = append(rules, link.HoldReply(m))
		}
	}
	return heard.Load, func() {
		for _, r := range rules {
			r.Release()
		}
	}
}

// explains reports whether a fault is in force that can keep an answer from c: one that hits it, or
// a server of the lock.
func (s *Stage) explains(c *Client) bool {
	if c.Life() > 0 || c.dead() {
		return true
	}
	return slices.ContainsFunc(s.Nemesis.Active(), func(f nemesis.Fault) bool {
		if f.F == nemesis.CutReplicationF || f.F == nemesis.ReplicationLagF {
			return false
		}
		return f.Target == c.Name || s.serves(f.Target)
	})
}
