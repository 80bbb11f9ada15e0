package player

import (
	"time"

	"github.com/lockbench/lockbench/internal/schedule"
)

// A machine that is too busy can play the steps of a script and yet come too late for what they are to show. In virtual time no script is late.

// lateAfterHold tells how long it took from a command that a lock sent by itself, and that is held up, to the call that is the script's next step.
// The lock gives the command up after a time of its own, and the call is to be made before that.
func (s *Stage) lateAfterHold(p schedule.Step) {
	since := s.since
	s.since = time.Time{}
	if s.Late != nil && p.Calls() && !since.IsZero() {
		s.Late(s.Clock.Now().Sub(since), s.TTL)
	}
}

// letsNoTimePass reports whether a step is of calls that take no longer than their commands do, and ends no lease but by giving it back.
func letsNoTimePass(p schedule.Step) bool {
	if p.Free || p.After != nil {
		return false
	}
	switch p.Verb {
	case schedule.Acquire:
		return !p.Eventually && p.Within == nil && p.GivingUp == nil && p.Tries == 0 && p.Retries == 0
	case schedule.Reenter, schedule.Verify, schedule.Release, schedule.Read, schedule.Write, schedule.Draw, schedule.Count, schedule.Meet:
		return true
	}
	return false
}

// holding is a lease that a client holds.
type holding struct {
	by *Client
	*section
}

// leases returns the innermost lease of each client that holds one.
func (s *Stage) leases() (all []holding) {
	for _, c := range s.Clients {
		if held := c.section(); held != nil {
			all = append(all, holding{c, held})
		}
	}
	return all
}

// lateForLeases tells how long it took from when a lease was asked for to the end of a step, if it has ended by then. No step so far lets time
// pass, so that the script counts on each lease; one that is shorter than its TTL may have ended all the same.
func (s *Stage) lateForLeases(held []holding) {
	if s.Hangs.Any() {
		return // a client may still be in a call
	}
	for _, h := range held {
		now := h.by.Clock.Now()
		if ends := h.ends(); !ends.IsZero() && now.After(ends) {
			s.Late(now.Sub(h.asked), ends.Sub(h.asked))
			s.hurried = false // once is enough
			return
		}
	}
}
