package locks

import (
	"context"
	"time"
)

func redlockInTurnsSpec() Spec {
	return Spec{
		Name:       "redlock-in-turns",
		Title:      "Redlock that asks its nodes one after the other, as printed",
		Source:     "A 2.5, D",
		Sound:      true,
		Assumption: "a majority of the masters keep their keys and their clocks, and the holder stops before its deadline",
		Masters:    5,
		Variant:    "redlock",
		Extends:    true,
		HasToken:   true,
		New:        newRedlockInTurns,
	}
}

// newRedlockInTurns returns the lock redlock-in-turns: redlock as A and D print it.
//
//	acquire, release, extend  as redlock, on one node after the other
//
// Source: A 2.5 step 2, D RedLock step 2: "in order, from N nodes, with a time-out far below the
// lease, and on to the next at once".
//
// Each node has a time-out to itself. What the nodes take adds up, and comes off the validity: N
// nodes that stand still cost N time-outs, where redlock waits for one. Two that stand still,
// with the time-out of a twentieth of the TTL, leave nine tenths of the lease at most. A client that
// stops half-way has asked the first nodes only.
//
// Sound under the assumptions of redlock.
func newRedlockInTurns(env Env) Locker { return &redlock{env: env, inTurns: true} }

// inOrder is onAll for one node after the other.
func (r *redlock) inOrder(ctx context.Context, timeout time.Duration, do nodeFunc) []error {
	answers := make([]error, len(r.env.Nodes))
	for i, node := range r.env.Nodes {
		answers[i] = func() error {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			return do(ctx, i, node)
		}()
	}
	return answers
}
