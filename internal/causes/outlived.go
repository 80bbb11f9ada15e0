package causes

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
	"github.com/lockbench/lockbench/internal/words"
)

// overrun explains that a's lease, as it was granted and extended, had ended when b was granted
// the lock.
func (s *scene) overrun(a *histories.Hold, m *effect, b *histories.Hold) *checker.Cause {
	ended := leaseOf(a)
	for _, e := range s.places[m.at][m.n+1:] {
		if e.Kind != effects.Extends || e.call.attempt != a.Attempt || e.From > b.Returned.Time {
			continue
		}
		if e.TTL == 0 {
			return nil // nobody can tell for how long
		}
		ended = max(ended, expiryOf(e))
	}
	if ended == never || b.Returned.Time < ended-drift(a.TTL) || s.fault(m.From, b.Returned.Time, m.at.node) != nil {
		return nil
	}
	return s.outlived(a, m, s.stakes(b.Attempt)[0], ended)
}

// expired explains that a's key was gone by its time to live when t took it, or by a fault before that.
func (s *scene) expired(a *histories.Hold, m, shortened, t *effect, expiry time.Duration) *checker.Cause {
	name := histories.WorkerName(a.Worker)
	if t.To < expiry-drift(max(m.TTL, a.TTL)) {
		return s.forgotten(a, m, t, expiry)
	}
	ended := expiry
	switch {
	case shortened != nil:
		return s.cause(checker.LeaseShortened, begin(fmt.Sprintf("%s gave the key a shorter time to live than %s had been granted: %s %s; the key ended at %s, and %s's lease was to last until %s.",
			s.callName(shortened), name, s.quote(shortened), s.when(shortened), words.Seconds(ended), name, words.Seconds(a.Invoked.Time+a.TTL))), []*effect{shortened, m, t}, a.Returned.Event)
	case m.TTL > 0 && a.TTL > 0 && m.TTL < a.TTL-drift(a.TTL):
		return s.cause(checker.LeaseTooShort, fmt.Sprintf("%s asked for a lease of %v, and its key was given %v: %s %s.",
			name, a.TTL, m.TTL, s.quote(m), s.when(m)), []*effect{m, t}, a.Returned.Event)
	case a.Deadline > ended+drift(m.TTL) && t.To < a.Deadline && len(a.Extends) == 0:
		return s.cause(checker.DeadlineTooLate, fmt.Sprintf("%s was told at event %d that its lease lasts until %s, but its key ended at %s: %s was sent at %s.",
			name, a.Returned.Event, words.Seconds(a.Deadline), words.Seconds(ended), s.quote(m), words.Seconds(s.Exchanges[m.Exchange].Sent)), []*effect{m, t}, a.Returned.Event)
	}
	return s.outlived(a, m, t, ended)
}

// outlived explains that a went on when its key had expired.
func (s *scene) outlived(a *histories.Hold, m, t *effect, ended time.Duration) *checker.Cause {
	if c := s.revived(a, m, ended); c != nil {
		return c
	}
	for _, x := range a.Extends {
		if o := s.op(x.Invoked.Event); o != nil {
			if c := cmp.Or(s.nothingAsked(o), s.unanswered(o)); c != nil {
				return c
			}
		}
	}
	name := histories.WorkerName(a.Worker)
	renewals, latest := 0, m
	for _, e := range s.places[m.at][m.n+1:] {
		if e.Kind == effects.Extends && e.call.attempt == a.Attempt && e.From < ended {
			renewals, latest = renewals+1, e
		}
	}
	what := fmt.Sprintf("%s's key ended at %s", name, words.Seconds(ended))
	if renewals == 0 {
		what += ", as nothing had extended it since " + s.Exchanges[m.Exchange].Command
	} else {
		what += fmt.Sprintf(", as nothing extended it after %s at %s", s.quote(latest), words.Seconds(s.Exchanges[latest.Exchange].Sent))
	}
	events := []int{a.Returned.Event}
	if f := s.standing(a, m, ended); f != nil {
		what += fmt.Sprintf(" (%s at event %d)", faultName(f), f.Invoke.Index)
		events = append(events, f.Invoke.Index)
	}
	until := "and it never gave the lock back"
	if !a.Open() {
		until = fmt.Sprintf("and it relied on the lock until event %d", a.Ended.Event)
		events = append(events, a.Ended.Event)
	}
	on := []*effect{m, t}
	if latest != m {
		on = []*effect{latest, m, t}
	}
	return s.cause(checker.LeaseOutlived, what+", "+until+".", on, events...)
}

// standing is the fault of a client that may have kept a from renewing or ending its hold in time.
func (s *scene) standing(a *histories.Hold, m *effect, ended time.Duration) *histories.Op {
	for i := range s.faults {
		f := &s.faults[i]
		over := never
		if f.Done && f.Complete.Type != histories.Info {
			over = f.Complete.Time
		}
		if slices.Contains(s.ClientFaults, f.Invoke.F) && f.Invoke.Node == histories.WorkerName(a.Worker) && f.Invoke.Time < ended && over > m.From {
			return f
		}
	}
	return nil
}
