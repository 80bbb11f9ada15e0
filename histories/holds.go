package histories

import "time"

// An Instant is a point of a history: an event and its time. Events order instants
// even where times are equal. The zero Instant means none: no return and no end can
// be event 0, because an invocation came before it.
type Instant struct {
	Event int           // its Index
	Time  time.Duration // since the run began
}

// A Hold is one acquire attempt that succeeded, or whose outcome nobody knows.
//
// The holder believes that it holds the lock from the acquire's return to the
// invocation of its first release, or to a recorded lost, abandon or crash,
// whichever comes first. A belief that nothing ended is open. A crash ends every
// belief of its worker. A refused extend ends none: a holder that heeds it
// records lost. Nor does any event of Nemesis.
//
// An attempt of unknown outcome is never believed, but the server may hold its key.
type Hold struct {
	Attempt  uint64
	Key      string
	Worker   int
	Process  int
	Mode     Mode          // with whom it may share the key
	Outcome  Type          // OK or Info; Fail of one that was refused, which is none
	TTL      time.Duration // the lease asked for
	Deadline time.Duration // when the acquire said that the lease ends, on the harness clock; 0: it did not say
	Token    int64         // fencing token, 0 if none

	Invoked  Instant
	Returned Instant // of the acquire's completion, whatever its type; zero if there is none
	Ended    Instant // zero while End is empty
	End      F       // Release, Lost, Abandon or Crash; empty: open

	Extends  []Extension // that succeeded, in the order of their returns
	Unknown  []Extension // of unknown outcome, in the order of their invocations
	Releases []Answer    // of this attempt, in the order of their invocations
}

// An Answer is a call and what came of it.
type Answer struct {
	Invoked  Instant
	Returned Instant // zero if it never did
	Outcome  Type    // OK, Fail or Info
}

// An Extension is an extend that succeeded, or whose outcome nobody knows.
type Extension struct {
	Invoked  Instant
	Returned Instant       // zero if it never did
	TTL      time.Duration // the lease asked for, 0 if not recorded
	Deadline time.Duration // the new one, valid from Returned
}

// Believed reports whether the holder believed for any time at all: the acquire
// returned OK, and nothing had ended the attempt by then.
func (h Hold) Believed() bool {
	return h.Outcome == OK && (h.Open() || h.Ended.Event > h.Returned.Event)
}

// Open reports whether nothing ended the attempt.
func (h Hold) Open() bool { return h.End == "" }

// Released is the outcome of all releases of the attempt together: OK if one
// succeeded, Fail if there was one and all were refused, and Info otherwise,
// also if there was none.
func (h Hold) Released() Type {
	refused := 0
	for _, r := range h.Releases {
		switch r.Outcome {
		case OK:
			return OK
		case Fail:
			refused++
		}
	}
	if refused > 0 && refused == len(h.Releases) {
		return Fail
	}
	return Info
}

// Holds returns the holds of a history in the order of their invocations. The
// history must pass Validate; of any other, Holds returns what it can pair.
func Holds(events []Event) []Hold {
	var all []*Hold
	var f *Summarizer
	f = NewSummarizer(Hooks{Began: func(o *Op) {
		if h := f.Hold(o.Invoke.Attempt); o.Invoke.F == Acquire && h != nil && h.Invoked.Event == o.Invoke.Index {
			all = append(all, h)
		}
	}})
	for i := range events {
		f.Add(&events[i])
	}
	f.Finish()
	var holds []Hold
	for _, h := range all {
		if h.Outcome != Fail {
			holds = append(holds, *h)
		}
	}
	return holds
}

func at(e *Event) Instant { return Instant{Event: e.Index, Time: e.Time} }
