package story

import (
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A Belief is a hold that its client believed in, for however short a time.
type Belief struct {
	histories.Hold
}

func beliefs(events []histories.Event) []Belief {
	var all []Belief
	for _, h := range histories.Holds(events) {
		if h.Believed() {
			all = append(all, Belief{h})
		}
	}
	return all
}

// Client is the name of the client that believes.
func (b Belief) Client() string { return histories.WorkerName(b.Worker) }

// Until is when the belief ended, and end if it did not end before.
func (b Belief) Until(end time.Duration) time.Duration {
	if b.Open() {
		return end
	}
	return min(b.Ended.Time, end)
}

// A Lease is what a client was told of how long it may hold a key: by the acquire, and by each extend.
type Lease struct {
	From, To time.Duration // To is before the end that was told if another lease was told before it
	End      time.Duration // as the client was told
	Event    int           // that told it
}

// Leases are those that the client was told of, in that order.
func (b Belief) Leases() []Lease {
	var all []Lease
	if b.Deadline > 0 {
		all = append(all, Lease{From: b.Returned.Time, To: b.Deadline, End: b.Deadline, Event: b.Returned.Event})
	}
	for _, x := range b.Extends {
		if x.Deadline == 0 {
			continue
		}
		if n := len(all); n > 0 {
			all[n-1].To = min(all[n-1].To, x.Returned.Time)
		}
		all = append(all, Lease{From: x.Returned.Time, To: x.Deadline, End: x.Deadline, Event: x.Returned.Event})
	}
	return all
}

// LeaseBefore is when the lease ends that the client had been told of last before an event; 0 if there was none.
func (b Belief) LeaseBefore(event int) time.Duration {
	end := b.Deadline
	for _, x := range b.Extends {
		if x.Deadline > 0 && x.Returned.Event < event {
			end = x.Deadline
		}
	}
	return end
}

// Lease is when the last lease ends that the client was told of while it believed; 0 if there was none.
func (b Belief) Lease() time.Duration {
	if b.Open() {
		return b.LeaseBefore(math.MaxInt)
	}
	return b.LeaseBefore(b.Ended.Event)
}

// Lapse is when the client's last lease ended, if it went on to believe after that and the lease ended before end.
func (b Belief) Lapse(end time.Duration) (at time.Duration, lapsed bool) {
	at = b.Lease()
	return at, at > 0 && at < b.Until(end)
}

// A Meeting is a grant of a key to one client while another believed to hold it, and they do not share it.
type Meeting struct {
	Holder  Belief        // of the one that had been granted it before
	Granted Belief        // of the one that is granted it
	Lapsed  time.Duration // when the holder's lease had ended by then, as it had been told; 0: it goes on, or is not known
}

// Meetings are those at the event that granted a key, in the order in which the holders had asked for it.
func (s *Story) Meetings(granted int) []Meeting {
	all := s.Beliefs()
	mine := slices.IndexFunc(all, func(b Belief) bool { return b.Returned.Event == granted })
	if mine < 0 {
		return nil
	}
	var met []Meeting
	for _, b := range all {
		if m, ok := meet(b, all[mine]); ok {
			met = append(met, m)
		}
	}
	return met
}

func meet(holder, granted Belief) (m Meeting, ok bool) {
	at := granted.Returned
	if holder.Key != granted.Key || holder.Attempt == granted.Attempt || holder.Shares(granted.Hold) ||
		holder.Returned.Event > at.Event || !holder.Open() && holder.Ended.Event < at.Event {
		return m, false
	}
	m = Meeting{Holder: holder, Granted: granted}
	if end := holder.LeaseBefore(at.Event); end > 0 && end <= at.Time {
		m.Lapsed = end
	}
	return m, true
}
