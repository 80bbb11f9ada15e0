package certificate

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A Lock is the state of one key on a server that keeps each lease at least until it is sure to be
// over, and answers with truth. The zero Lock is free.
type Lock struct {
	holds []hold
	token int64 // the highest that was issued
}

// A hold is an attempt that has the key, or had it when nobody looked.
type hold struct {
	attempt uint64
	mode    histories.Mode
	worker  int
	ttl     time.Duration
	until   time.Duration // the earliest end of its lease
}

// of says whether e is a call on a lock: one that a Lock takes.
func locks(f histories.F) bool {
	return f == histories.Acquire || f == histories.Release || f == histories.Extend
}

func (l *Lock) find(attempt uint64) int {
	return slices.IndexFunc(l.holds, func(h hold) bool { return h.attempt == attempt })
}

// Holds says whether an attempt has the key, if its lease is not over.
func (l *Lock) Holds(attempt uint64) bool { return l.find(attempt) >= 0 }

// Free says whether nobody has the key, whatever became of leases.
func (l *Lock) Free() bool { return len(l.holds) == 0 }

// Blocking returns the attempts that an acquire may not share the key with.
func (l *Lock) Blocking(acquire *histories.Event) []uint64 {
	var found []uint64
	for _, h := range l.holds {
		if !h.shares(acquire) {
			found = append(found, h.attempt)
		}
	}
	return found
}

func (h *hold) shares(acquire *histories.Event) bool {
	mode := acquire.Mode()
	return mode == h.mode && (mode == histories.Shared || mode == histories.Reentrant && h.worker == acquire.Worker)
}

// When returns the first instant, from from on, at which the answer to a call is what the key shows:
// "done", or else "taken" or "not yours". false is never.
//
// What leases are over is gone if it must be: it need not be gone.
func (l *Lock) When(call *histories.Event, done bool, from time.Duration) (time.Duration, bool) {
	switch mine := l.find(call.Attempt); {
	case call.F == histories.Acquire && done:
		for i := range l.holds {
			if h := &l.holds[i]; !h.shares(call) {
				from = max(from, h.until)
			}
		}
	case call.F == histories.Acquire:
		return from, len(l.holds) > 0
	case done:
		return from, mine >= 0
	case mine >= 0:
		from = max(from, l.holds[mine].until)
	}
	return from, from != forever
}

// Issue issues a token to an acquire that is granted, before Take. It says whether the token is one that
// a lock may issue: a higher one than all before, or, if the key is shared, the same. A token of 0 is
// none.
func (l *Lock) Issue(acquire *histories.Event, token int64) bool {
	if token == 0 {
		return true
	}
	again := token == l.token && slices.ContainsFunc(l.holds, func(h hold) bool { return h.shares(acquire) })
	if token <= l.token && !again {
		return false
	}
	l.token = token
	return true
}

// Take gives the key the state that it has after a call took effect at an instant, at which its answer
// was what the key showed.
func (l *Lock) Take(call *histories.Event, done bool, at time.Duration) {
	mine := l.find(call.Attempt)
	switch {
	case call.F == histories.Acquire && done:
		l.holds = slices.DeleteFunc(l.holds, func(h hold) bool { return !h.shares(call) })
		l.holds = append(l.holds, hold{call.Attempt, call.Mode(), call.Worker, call.TTL, sure(at, call.TTL)})
	case call.F == histories.Acquire || mine < 0:
	case call.F == histories.Extend && done:
		h := &l.holds[mine]
		ttl := call.TTL
		if ttl == 0 {
			ttl = h.ttl
		}
		h.until = sure(at, ttl)
	default: // released, or over
		l.holds = slices.Delete(l.holds, mine, mine+1)
	}
}

// refused says whether an answer says that a key is taken, or not the caller's. Other failures say
// nothing of a key.
func refused(answer *histories.Event) bool { return answer.Taken() || answer.NotHeld() }
