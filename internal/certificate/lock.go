package certificate

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A Call is what is asked of a lock.
type Call struct {
	Attempt uint64
	Worker  int
	TTL     time.Duration
	F       kind
	Mode    sharing // of an acquire
	Default bool    // an acquire that does not say for how long
}

// CallOf is the call that an event begins.
func CallOf(invoke *histories.Event) Call {
	return Call{F: kindOf(invoke.F), Attempt: invoke.Attempt, Worker: invoke.Worker, Mode: sharingOf(invoke.Mode()), TTL: invoke.TTL, Default: invoke.WithoutTTL()}
}

// A Lock is the state of one key on a server that keeps each lease at least until it is sure to be
// over, and answers with truth. The zero Lock is free.
type Lock struct {
	holds []tenancy
	token int64 // the highest that was issued
}

// A tenancy is that of an attempt that has the key, or had it when nobody looked.
type tenancy struct {
	Call
	until time.Duration // the earliest end of its lease
}

func (l *Lock) find(attempt uint64) int {
	return slices.IndexFunc(l.holds, func(h tenancy) bool { return h.Attempt == attempt })
}

// Holds reports whether an attempt has the key, if its lease is not over.
func (l *Lock) Holds(attempt uint64) bool { return l.find(attempt) >= 0 }

// Free reports whether nobody has the key, whatever became of leases.
func (l *Lock) Free() bool { return len(l.holds) == 0 }

// Blocking returns the attempts that an acquire may not share the key with.
func (l *Lock) Blocking(acquire *Call) []uint64 {
	var found []uint64
	for _, h := range l.holds {
		if !h.Shares(acquire) {
			found = append(found, h.Attempt)
		}
	}
	return found
}

// Shares reports whether two acquires may have one key at once: those of readers, and the re-entries of one
// worker.
func (c *Call) Shares(o *Call) bool {
	return c.Mode == o.Mode && (c.Mode == withReaders || c.Mode == withItself && c.Worker == o.Worker)
}

// When returns the first instant, from from on, at which the answer to a call is what the key shows:
// "done", or else "taken" or "not yours". false is never.
//
// What leases are over is gone if it must be: it need not be gone.
func (l *Lock) When(call *Call, done bool, from time.Duration) (time.Duration, bool) {
	switch mine := l.find(call.Attempt); {
	case call.F == acquire && done:
		for i := range l.holds {
			if h := &l.holds[i]; !h.Shares(call) {
				from = max(from, h.until)
			}
		}
	case call.F == acquire:
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
func (l *Lock) Issue(acquire *Call, token int64) bool {
	if token == 0 {
		return true
	}
	again := token == l.token && slices.ContainsFunc(l.holds, func(h tenancy) bool { return h.Shares(acquire) })
	if token <= l.token && !again {
		return false
	}
	l.token = token
	return true
}

// Take gives the key the state that it has after a call took effect at an instant, at which its answer
// was what the key showed.
func (l *Lock) Take(call *Call, done bool, at time.Duration) {
	mine := l.find(call.Attempt)
	switch {
	case call.F == acquire && done:
		l.holds = slices.DeleteFunc(l.holds, func(h tenancy) bool { return !h.Shares(call) })
		l.holds = append(l.holds, tenancy{*call, sure(at, call.TTL)})
	case call.F == acquire || mine < 0:
	case call.F == extend && done:
		h := &l.holds[mine]
		ttl := call.TTL
		if ttl == 0 {
			ttl = h.TTL
		}
		h.until = sure(at, ttl)
	default: // released, or over
		l.holds = slices.Delete(l.holds, mine, mine+1)
	}
}
