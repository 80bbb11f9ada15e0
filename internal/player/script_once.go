package player

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/nemesis"
)

// How it is noticed that a lock makes its caller wait where a script asks it to try once. Its holder outlives the lease meanwhile, which
// no other lock is asked for, so that what comes of it accuses nobody.

// triesOnce notes of the call that c has begun in a step whether it tries once to acquire a lock.
func (s *Stage) triesOnce(c *Client, p schedule.Step) {
	if u := s.pending[c]; u != nil && p.Verb == schedule.Acquire && !p.Eventually && p.Within == nil && p.Tries == 0 && p.Retries == 0 {
		u.once = s.Keys[max(p.Key, 1)-1].Name
	}
}

// isHad reports whether a client believes that it holds the lock on a key.
func (s *Stage) isHad(key string) bool {
	return slices.ContainsFunc(s.Clients, func(c *Client) bool {
		has, _, holds := c.Held()
		return holds && has == key
	})
}

// promptly returns a func that is called when a call of c has ended that tries once to acquire a lock which somebody has, and that was waited
// for from now on. It returns an *UnplayableError if that took a quarter of a TTL while nothing else explains it. A machine that stands still is noticed by others.
func (s *Stage) promptly(c *Client) func() error {
	began, calm := s.Clock.Now(), s.calm(c)
	return func() error {
		took := s.Clock.Now().Sub(began)
		if took < s.TTL/4 || !calm() || s.Hangs.Any() {
			return nil
		}
		return &UnplayableError{Slow: true, Why: fmt.Sprintf("the acquire of %s went on for %v, and no fault held it up: this needs an acquire that tries once and is refused at once",
			c.Name, took.Round(time.Millisecond))}
	}
}

// calm returns a func that reports whether from now on, until it is called, nothing but c's lock made c wait: no fault was in force for it
// or a server of the lock, and none had been that breaks connections, which a client takes its time to make again.
func (s *Stage) calm(c *Client) func() bool {
	harmless := []histories.F{nemesis.ClockF, nemesis.ClientClockF}
	over := append([]histories.F{nemesis.HoldF, nemesis.PauseF, nemesis.CrashF, nemesis.LostReplyF, nemesis.DuplicateF, nemesis.SquatterF, nemesis.EvictF,
		nemesis.FlushF, nemesis.ScriptFlushF, nemesis.OOMF}, harmless...)
	still := func() bool {
		return c.Life() == 0 && !c.dead() && len(s.rules[c.Name]) == 0 &&
			!slices.ContainsFunc(s.Nemesis.Active(), func(f nemesis.Fault) bool {
				return !slices.Contains(harmless, f.F) && (f.Target == c.Name || s.serves(f.Target))
			}) &&
			!slices.ContainsFunc(nemesis.All(), func(k nemesis.Kind) bool { return s.Nemesis.Began(k.F) && !slices.Contains(over, k.F) })
	}
	before, count := still(), s.Nemesis.Count()
	return func() bool { return before && s.Nemesis.Count() == count && still() }
}
