package workloads

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// How steps prove that they hit the lock.

// sight looks which locks a server holds, of those of which that was not seen yet.
func (s *Stage) sight() {
	for _, key := range s.Keys {
		if key.Unknown != nil || s.sighted[key.Name] {
			continue
		}
		for shard := range s.Shards {
			d := deciding{s.Cluster, s.Cluster.Primary(shard), key.Kept}
			if s.Cluster.Alive(d.node) && slices.ContainsFunc(d.look(), func(k cluster.KeyState) bool { return k.Exists }) {
				if s.sighted == nil {
					s.sighted = map[string]bool{}
				}
				s.sighted[key.Name] = true
				break
			}
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
	if !seen {
		return &MissedError{Why: fmt.Sprintf("no server was seen to have %s: there was no lease that could end", strings.Join(names, " or "))}
	}
	return nil
}

// mostAsks is how often a client asks that gets no answer.
const mostAsks = 3

// ask lets c try, and again if no server answered, such as because its connection died with
// one. That no answer comes is a *MissedError, unless a fault explains it. What a server
// answers is an answer, also if it leaves the outcome open.
func (s *Stage) ask(ctx context.Context, c *Client, try func(context.Context) error) error {
	for n := 1; ; n++ {
		before := s.answered(c)
		err := try(ctx)
		if err == nil || locks.Classify(err) == locks.Refused || s.answered(c) > before || s.explains(c) || s.Hangs.Any() {
			return err
		}
		if stop := s.stop(ctx); stop != nil {
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

// answered is how many commands of c the lock's servers have answered, or of all clients if c
// shares its connections.
func (s *Stage) answered(c *Client) (n int) {
	if c.Sent == nil {
		for _, o := range s.Clients {
			for _, link := range s.lockLinks(o.Name) {
				n += link.Answered()
			}
		}
		return n
	}
	for _, link := range s.lockLinks(c.Name) {
		n += link.Answered()
	}
	return n
}

// explains says whether a fault is in force that can keep an answer from c: one that hits it, or
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
