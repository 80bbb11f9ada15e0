package explain

import (
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

const (
	mostActs = MostCalls + 3
	nobody   = -1
	// forever is longer than anything that a history tells, and can be added up.
	forever = time.Duration(math.MaxInt64 / 64)
)

// An act is a call as a search has it.
type act struct {
	Call
	mode    mode
	lease   time.Duration     // that it asks for, or forever
	by      time.Duration     // when it had its effect at the latest, or was answered
	known   int               // the event by which it had it; 0: none
	sure    bool              // it was answered, and so has a place in every order
	after   uint16            // the acts that come before it in every order
	of      int               // its attempt's acquire, or nobody
	back    histories.Instant // of an acquire: when the first release was invoked; its event is 0 if none was
	gone    histories.Instant // of an acquire: when the first was that was not refused
	echo    bool              // a release arrives once more
	emerged bool              // of an acquire of unknown outcome: an accepted call shows that it was granted
}

// shows reports whether a was accepted, and so shows that its attempt had been granted.
func (a *act) shows() bool {
	return a.F != histories.Acquire && a.sure && a.Outcome == histories.OK && a.of != nobody
}

// acts adds the calls to no others, with times from the first one on, and releases once more.
func acts(all []act, calls []Call) []act {
	for _, c := range calls {
		c.Invoked.Time -= calls[0].Invoked.Time
		c.Returned.Time -= calls[0].Invoked.Time
		a := act{Call: c, mode: modeOf(c.Mode), lease: lasting(c.TTL), by: forever, of: nobody}
		if c.Returned.Event > 0 {
			a.by = c.Returned.Time
			if a.sure = c.Outcome != histories.Info; a.sure {
				a.known = c.Returned.Event
			}
		}
		all = append(all, a)
	}
	for i := range all {
		relate(all, i)
	}
	for i := range all {
		all[i].emerged = emerges(all, i)
	}
	for i := range calls {
		if a := all[i]; a.F == histories.Release && a.Outcome != histories.Fail && len(all) < mostActs {
			a.echo, a.sure = true, false
			all = append(all, a)
		}
	}
	return all
}

// A mode is a histories.Mode without a pointer: states are copied all the time.
type mode uint8

const (
	exclusive mode = iota
	shared
	reentrant
)

func modeOf(m histories.Mode) mode {
	switch m {
	case histories.Shared:
		return shared
	case histories.Reentrant:
		return reentrant
	}
	return exclusive
}

func lasting(ttl time.Duration) time.Duration {
	if ttl <= 0 {
		return forever
	}
	return min(ttl, forever)
}

// relate finds what comes before an act, and its acquire.
func relate(all []act, i int) {
	a := &all[i]
	for j := range all {
		b := &all[j]
		if i != j && b.sure && b.Returned.Event < a.Invoked.Event {
			a.after |= 1 << j
		}
		if b.F != histories.Acquire || b.Attempt != a.Attempt || a.F == histories.Count {
			continue
		}
		if a.of = j; a.F == histories.Release {
			if b.back.Event == 0 {
				b.back = a.Invoked
			}
			if b.gone.Event == 0 && a.Outcome != histories.Fail {
				b.gone = a.Invoked
			}
		}
	}
}

// emerges reports whether an accepted call shows that an acquire of unknown outcome was granted. That of
// a client that re-enters shows it if it has no other acquire.
func emerges(all []act, i int) bool {
	a := &all[i]
	if a.F != histories.Acquire || a.Outcome != histories.Info {
		return false
	}
	another := func(b act) bool {
		return b.F == histories.Acquire && b.Worker == a.Worker && b.Attempt != a.Attempt && b.Outcome != histories.Fail
	}
	if a.mode == reentrant && slices.ContainsFunc(all, another) {
		return false
	}
	return slices.ContainsFunc(all, func(b act) bool { return b.of == i && b.shows() })
}
