package checker

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// rank is a place in the order of a history. The i-th event has rank 2i+1, and
// 2i is the gap before it.
//
// The judges compare ranks and never times. Times have ties, and the order of
// the events is authoritative: the recorder numbered them one after the other.
// Only deadlines are known by their time alone. A deadline takes the gap before
// the first event whose time is not earlier, because at the deadline itself the
// lease is over. Odd ranks belong to one event each, so a grant and the end of
// another belief never share a rank, and no comparison depends on whether an
// interval is open or closed.
type rank int64

// never is later than every event.
const never rank = math.MaxInt64

// at is the rank of the i-th event.
func at(i int) rank { return rank(2*i + 1) }

// A clock knows when the events happened that a stretch has to do with, and the faults. No rank of a
// deadline is compared with that of any other event.
type clock struct {
	own    []histories.Instant // in order, of the stretch
	others []histories.Instant // in order: starts and ends of faults
	last   histories.Instant   // of the history, so far
}

// gap is the rank of a deadline at time t.
func (c *clock) gap(t time.Duration) rank {
	return rank(2 * min(after(c.own, t, c.last.Event+1), after(c.others, t, c.last.Event+1)))
}

// after is the first event that was not earlier than t, or else none.
func after(all []histories.Instant, t time.Duration, none int) int {
	i, _ := slices.BinarySearchFunc(all, t, func(i histories.Instant, t time.Duration) int { return cmp.Compare(i.Time, t) })
	if i == len(all) {
		return none
	}
	return all[i].Event
}

// of is the time of an event, or of the last one before it that the clock knows.
func (c *clock) of(event int) time.Duration {
	if event >= c.last.Event {
		return c.last.Time
	}
	return max(until(c.own, event), until(c.others, event))
}

// until is the time of the last event up to one.
func until(all []histories.Instant, event int) time.Duration {
	i, found := slices.BinarySearchFunc(all, event, func(i histories.Instant, event int) int { return cmp.Compare(i.Event, event) })
	switch {
	case found:
		return all[i].Time
	case i == 0:
		return math.MinInt64
	}
	return all[i-1].Time
}

// timeOf is the time of the event with rank r, and 0 for rank 0.
func (c *clock) timeOf(r rank) time.Duration {
	if r == 0 {
		return 0
	}
	return c.of(int(r / 2))
}

// when is the time of an event as stories tell it.
func (c *clock) when(event int) string { return words.Seconds(c.of(event)) }

// instant is when an event happened.
func instant(e *histories.Event) histories.Instant {
	return histories.Instant{Event: e.Index, Time: e.Time}
}
