package causes

import (
	"cmp"
	"fmt"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
)

// beside explains how b was granted while a, granted before it, believed in its lock: nil if it
// cannot be derived.
func (s *scene) beside(a, b *histories.Hold) *checker.Cause {
	for _, h := range []*histories.Hold{b, a} {
		if c := s.granted(s.acquire(h.Attempt)); c != nil {
			return c
		}
	}
	mine, theirs := s.stakes(a.Attempt), s.stakes(b.Attempt)
	var best *checker.Cause
	better := func(c *checker.Cause) {
		if c != nil && (best == nil || nearness(c.Kind) < nearness(best.Kind)) {
			best = c
		}
	}
	for _, t := range theirs {
		if owner, known := s.owner(t); known && !s.sameHolder(owner.attempt, b.Attempt) {
			switch {
			case t.Kind == effects.Overwrites:
				better(s.overwritten(t))
			case t.Kind == effects.Extends && !b.Shares(*a):
				better(s.sharedIdentity(t))
			}
		}
	}
	for _, m := range mine {
		t := s.met(b.Attempt, m.at)
		switch {
		case best != nil || t == nil:
		case t.n > m.n && s.alike(m, t) && t.To < s.expiry(a, m)-drift(a.TTL) && s.undisturbed(a, m, t):
			better(s.sentTheSame(a, m, t))
		case t.n < m.n:
			better(s.grantedLate(b, t, m))
		default:
			better(s.ended(a, m, t))
		}
	}
	if best != nil {
		return best
	}
	if c := cmp.Or(s.minority(a, mine), s.minority(b, theirs)); c != nil {
		return c
	}
	if len(mine) > 0 && len(theirs) > 0 {
		if c := s.elsewhere(a, s.taken(mine[0]), s.taken(theirs[0])); c != nil {
			return c
		}
		return s.overrun(a, mine[0], b)
	}
	return nil
}

// nearness orders what a lock does wrong before what happens to it.
func nearness(kind checker.CauseKind) int {
	switch kind {
	case checker.ServerForgot:
		return 1
	case checker.LeaseOutlived:
		return 2
	}
	return 0
}

// minority explains that a hold was granted without a majority of the masters.
func (s *scene) minority(h *histories.Hold, stakes []*effect) *checker.Cause {
	nodes := map[string]bool{}
	for _, e := range stakes {
		nodes[e.at.node] = true
	}
	if s.Masters < 2 || len(nodes) == 0 || 2*len(nodes) > s.Masters {
		return nil
	}
	return s.cause(checker.Minority, fmt.Sprintf("%s was granted the lock at event %d with its key on %d of %d masters, which is no majority.",
		histories.WorkerName(h.Worker), h.Returned.Event, len(nodes), s.Masters), stakes, h.Returned.Event)
}
