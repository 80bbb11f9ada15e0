package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

func redlockSpec() Spec {
	return Spec{
		Name:       "redlock",
		Title:      "Redlock: a majority of independent masters",
		Source:     "A 2.5, D, R",
		Sound:      true,
		Assumption: "a majority of masters keep their keys and their clocks, and the holder stops before its deadline",
		Masters:    5,
		Extends:    true,
		HasToken:   true,
		New:        newRedlock,
	}
}

// newRedlock returns the lock redlock over N independent masters, N = len(env.Nodes).
//
//	acquire  on all nodes at once: SET key token NX PX milliseconds
//	release  on all nodes at once: a script that deletes key if its value is the own token
//	extend   on all nodes at once: a script that sets key's TTL if its value is the own token
//
// A lease needs a majority, N/2+1. It ends, on the client's clock, TTL − drift after
// the call began, and it must not have ended yet when the last node has answered. The
// drift allowed for is 1 % of the TTL and 2 ms. An acquire that fails releases on
// every node, also on those that did not answer, even if its context has ended.
//
// Acquire returns ErrTaken if so many nodes refused that no majority was left (a split
// vote counts too) and this attempt certainly left no key on any node. Every other
// failure is indefinite. Release, Verify and Extend go by the majority as well:
// ErrNotHeld means that a majority is known not to hold the key for this lease. An Extend
// that needs longer than the lease it asks for is indefinite too. Nodes that have lost the
// key do not get it back. Leases are not safe for concurrent use: Extend moves the deadline.
//
// Source: A 2.5, D RedLock; Redis documentation, Distributed Locks, "The Redlock
// algorithm".
//
// Sound while a majority of the masters neither lose the key (P21) nor run their clocks
// ahead (P20), and while the holder stops before its deadline (P22).
func newRedlock(env Env) Locker {
	return &redlock{env: env}
}

type redlock struct {
	env     Env
	inTurns bool // see newRedlockInTurns
	flaws   redlockFlaws
}

// redlockFlaws are the mistakes of the mutants. The zero value is the sound lock.
type redlockFlaws struct {
	noValidity     bool // see newRedlockNoValidity
	partialCleanup bool // see newRedlockPartialCleanup
	ofAnswers      bool // see newRedlockAnswersOnly
}

func (r *redlock) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	if err := checkDrift(ttl); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	token, err := NewToken(r.env.Rand)
	if err != nil {
		return nil, err
	}
	lease := &redlockLease{lock: r, key: key, token: token, timeout: nodeTimeout(ttl)}

	// Read before a byte is sent, see single.Acquire.
	start := r.env.Clock.Now()
	lease.deadline = start.Add(ttl - drift(ttl))
	set := r.setOnAll(ctx, lease, ttl)
	now := r.env.Clock.Now()
	if r.flaws.noValidity {
		lease.deadline = now.Add(ttl - drift(ttl))
	}

	votes := count("acquire", set, ErrTaken)
	if r.flaws.ofAnswers && len(votes.Errs) < votes.Nodes {
		votes.Nodes -= len(votes.Errs)
	}
	late := !now.Before(lease.deadline)
	if votes.won() && !late {
		return lease, nil
	}
	removed := lease.cleanUp(ctx, set)
	if votes.lost() && nothingLeft(set, removed) || r.flaws.partialCleanup {
		return nil, ErrTaken
	}
	if late {
		votes.Errs = append(votes.Errs, tooLate(now.Sub(start), ttl))
	}
	for _, err := range count("acquire", removed, ErrNotHeld).Errs {
		votes.Errs = append(votes.Errs, fmt.Errorf("clean-up: %w", err))
	}
	return nil, votes
}

// setOnAll sends the SETs of an acquire.
func (r *redlock) setOnAll(ctx context.Context, lease *redlockLease, ttl time.Duration) []error {
	set := func(ctx context.Context, _ int, node *redis.Client) error {
		return setNXPX(ctx, node, lease.key, lease.token, ttl)
	}
	if r.flaws.noValidity {
		return r.onEach(ctx, set)
	}
	return r.onAll(ctx, lease.timeout, set)
}

// cleanUp undoes a failed acquire whose SETs were answered as set says, also for a
// caller that has given up.
func (l *redlockLease) cleanUp(ctx context.Context, set []error) []error {
	remove := l.compareAndDelete
	if l.lock.flaws.partialCleanup {
		remove = func(ctx context.Context, i int, node *redis.Client) error {
			if set[i] != nil {
				return ErrNotHeld // as it believes
			}
			return l.compareAndDelete(ctx, i, node)
		}
	}
	return l.lock.onAll(context.WithoutCancel(ctx), l.timeout, remove)
}

func tooLate(took, ttl time.Duration) error {
	return fmt.Errorf("the answers took %v, and the lease ends after %v", took, ttl-drift(ttl))
}

// nothingLeft reports whether a failed acquire certainly left no key on any node, and
// never will: set and removed are what SET and the clean-up answered there.
func nothingLeft(set, removed []error) bool {
	for i := range set {
		var unsent *dialError
		var reply redis.Error
		switch {
		case errors.Is(set[i], ErrTaken), errors.As(set[i], &unsent), errors.As(set[i], &reply):
			// Nothing was set.
		case removed[i] == nil:
			// It was set, and that can happen only once.
		case set[i] == nil && errors.Is(removed[i], ErrNotHeld):
			// It was set and has expired.
		default:
			// The clean-up may have overtaken a SET that is still on its way.
			return false
		}
	}
	return true
}

// redlockLease is a lease on a majority of the nodes.
type redlockLease struct {
	lock       *redlock
	key, token string
	timeout    time.Duration
	deadline   time.Time
}

func (l *redlockLease) Release(ctx context.Context) error {
	return l.decide("release", l.lock.onAll(ctx, l.timeout, l.compareAndDelete))
}

func (l *redlockLease) Verify(ctx context.Context) error {
	return l.decide("verify", l.lock.onAll(ctx, l.timeout, func(ctx context.Context, _ int, node *redis.Client) error {
		return verify(ctx, node, l.key, l.token)
	}))
}

// Extend may also shorten the lease. If it is indefinite, Deadline is the earlier of the
// old one and the new. If the lease is gone, the keys that were extended are removed.
func (l *redlockLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := CheckInput(l.key, ttl); err != nil {
		return err
	}
	if err := checkDrift(ttl); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Read before a byte is sent, see single.Acquire.
	start := l.lock.env.Clock.Now()
	deadline := start.Add(ttl - drift(ttl))
	extended := l.lock.onAll(ctx, min(l.timeout, nodeTimeout(ttl)), func(ctx context.Context, _ int, node *redis.Client) error {
		return compareAndPExpire(ctx, node, l.key, l.token, ttl)
	})
	now := l.lock.env.Clock.Now()

	votes := count("extend", extended, ErrNotHeld)
	late := !now.Before(deadline)
	if votes.won() && !late {
		l.deadline = deadline
		return nil
	}
	if votes.lost() {
		// The rest would only be in others' way, for a whole ttl.
		l.lock.onAll(context.WithoutCancel(ctx), l.timeout, l.compareAndDelete)
		return ErrNotHeld
	}
	if deadline.Before(l.deadline) {
		l.deadline = deadline
	}
	if late {
		votes.Errs = append(votes.Errs, tooLate(now.Sub(start), ttl))
	}
	return votes
}

func (l *redlockLease) Token() int64        { return 0 }
func (l *redlockLease) Deadline() time.Time { return l.deadline }

func (l *redlockLease) compareAndDelete(ctx context.Context, _ int, node *redis.Client) error {
	return compareAndDelete(ctx, node, l.key, l.token)
}

// decide turns the nodes' answers into nil, ErrNotHeld, or an indefinite error.
func (l *redlockLease) decide(op string, answers []error) error {
	votes := count(op, answers, ErrNotHeld)
	switch {
	case votes.won():
		return nil
	case votes.lost():
		return ErrNotHeld
	default:
		return votes
	}
}

// onAll runs do for every node at once, and returns the answers in node order.
//
// It waits for all of them or the time-out, even if a majority has answered: the result
// must not depend on who was first, and nothing may run on in the background. A node that
// hangs costs every call one time-out. That time-out is the machine's, not the client's
// clock: it bounds waiting, while the client's clock decides about validity.
func (r *redlock) onAll(ctx context.Context, timeout time.Duration, do nodeFunc) []error {
	if r.inTurns {
		return r.inOrder(ctx, timeout, do)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return r.onEach(ctx, do)
}

// nodeFunc is one call on the node of that number.
type nodeFunc func(ctx context.Context, i int, node *redis.Client) error

// onEach is onAll with no time-out but that of ctx.
func (r *redlock) onEach(ctx context.Context, do nodeFunc) []error {
	answers := make([]error, len(r.env.Nodes))
	var wg sync.WaitGroup
	for i, node := range r.env.Nodes {
		wg.Go(func() { answers[i] = do(ctx, i, node) })
	}
	wg.Wait()
	return answers
}

// nodeTimeout is how long one node may take: 50 ms as the documentation says, and 5 % of
// a longer lease, so that a node's short stall does not cost its vote. A short lease
// gives up a quarter of itself at most.
func nodeTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/20, 50*time.Millisecond), ttl/4)
}

// drift is how far the clocks may run apart during a lease: 1 %, and 2 ms for the
// server's expiry being precise to the millisecond.
func drift(ttl time.Duration) time.Duration {
	return ttl/100 + 2*time.Millisecond
}

// checkDrift refuses a TTL of which the drift leaves nothing.
func checkDrift(ttl time.Duration) error {
	if d := drift(ttl); ttl <= d {
		return &InputError{Field: "ttl", Value: ttl.String(), Want: "more than the clock drift of " + d.String()}
	}
	return nil
}

// QuorumError says that the nodes' answers decide nothing. It is indefinite.
type QuorumError struct {
	Op      string // acquire, release, verify or extend
	Yes, No int    // answers
	Nodes   int    // asked
	Errs    []error
}

func (e *QuorumError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "redlock %s: %d of %d nodes said yes, %d no, %d needed", e.Op, e.Yes, e.Nodes, e.No, e.quorum())
	separator := ": "
	for _, err := range e.Errs {
		b.WriteString(separator + err.Error())
		separator = "; "
	}
	return b.String()
}

func (e *QuorumError) Unwrap() []error { return e.Errs }

func (e *QuorumError) quorum() int { return e.Nodes/2 + 1 }

// won reports whether a majority said yes, lost that too few are left for that.
func (e *QuorumError) won() bool  { return e.Yes >= e.quorum() }
func (e *QuorumError) lost() bool { return e.Nodes-e.No < e.quorum() }

// count sorts answers: nil is yes, refusal is no, and anything else leaves the node open.
func count(op string, answers []error, refusal error) *QuorumError {
	votes := &QuorumError{Op: op, Nodes: len(answers)}
	for i, err := range answers {
		switch {
		case err == nil:
			votes.Yes++
		case errors.Is(err, refusal):
			votes.No++
		default:
			votes.Errs = append(votes.Errs, fmt.Errorf("node %d: %w", i+1, err))
		}
	}
	return votes
}
