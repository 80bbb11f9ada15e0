// Package histories holds what a run leaves behind: the events that clients and
// faults produced, on one monotonic clock, and the files they are kept in.
//
// A history is produced, judged and drawn by three programs that meet only here.
// The package depends on the standard library alone, and on packed for files that are compressed.
package histories

import (
	"fmt"
	"time"
)

// Nemesis is the process number of every fault event.
const Nemesis = -1

// Type says which half of an operation an event is.
// The zero value is Info: an outcome nobody knows.
type Type uint8

// An operation is an Invoke followed by at most one of OK, Fail or Info.
const (
	Info   Type = iota // outcome unknown: it may have happened, or may happen later
	Invoke             // the call began; stamped before any byte is sent
	OK                 // it happened; stamped after the reply was read
	Fail               // it certainly did not happen
)

// String returns the name that files use, or Type(n) for a value that is no type.
func (t Type) String() string {
	switch t {
	case Info:
		return "info"
	case Invoke:
		return "invoke"
	case OK:
		return "ok"
	case Fail:
		return "fail"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// MarshalText returns the name that files use. A value that is no type is an error.
func (t Type) MarshalText() ([]byte, error) {
	if t > Fail {
		return nil, badType(t.String())
	}
	return []byte(t.String()), nil
}

// UnmarshalText accepts exactly the names that MarshalText returns.
func (t *Type) UnmarshalText(text []byte) error {
	for known := Info; known <= Fail; known++ {
		if string(text) == known.String() {
			*t = known
			return nil
		}
	}
	return badType(string(text))
}

const wantType = "invoke, ok, fail or info"

func badType(found string) error {
	return fmt.Errorf(`"type" is %q, want %s`, found, wantType)
}

// F is what an operation does.
type F string

// Client operations. Lost, Abandon, Crash, Waited, Audit, Missed and Hung are single Info events, all
// others are calls with an Invoke and a completion.
const (
	Acquire F = "acquire"
	Release F = "release"
	Extend  F = "extend"
	Read    F = "read"    // of the protected register; Version is the version seen
	Write   F = "write"   // of the protected register; Version is the version it replaced
	Incr    F = "incr"    // of a protected counter, by a read and a write; Value is the number it brought it to
	Draw    F = "draw"    // a Write that takes the prize of a lottery's round; Value is the round
	Verify  F = "verify"  // asks the lock whether the lease is still the holder's
	Count   F = "count"   // asks the lock how often the worker holds Key; Value is the answer
	Lost    F = "lost"    // the lock told its holder that the lease is gone
	Abandon F = "abandon" // the holder walks away without releasing
	Crash   F = "crash"   // the client process died: it believes nothing any more
	Waited  F = "waited"  // what an acquire that waits has cost; Value is how many commands it sent
	Audit   F = "audit"   // what a lock server really holds under a lock key; with an Err: nobody could look
	Missed  F = "missed"  // a scripted step did not hit the lock as it should have; Value says how. With a Key, somebody was not given the lock on it although that was free
	Hung    F = "hung"    // a call did not return within its limit, or panicked; Value is which, Err is how, and from its next line on where it stands
)

// What happened to the harness itself, and not to the lock. They are single Info events of
// process Nemesis; see Disturbance.
const (
	Stall      F = "harness-stall" // lockbench, or the machine, stood still until now, for TTL
	Standstill F = "standstill"    // virtual time could not go on; Err is why, and where everybody stands
	Died       F = "died"          // server Node ended by itself; Err is how
)

// Disturbance reports whether e is of the harness itself: what it may have brought about says
// nothing of the lock.
func (e Event) Disturbance() bool { return e.F == Stall || e.F == Standstill || e.F == Died }

// Event is one line of a history.
//
// Time is nanoseconds since the run began, on the harness's monotonic clock.
// Process identifies one sequential caller: it retires after an Info completion
// and its Worker goes on under a new number. Faults have Process Nemesis and the
// fault's name as F; Invoke is the fault's start and OK its end, paired by F and
// Node.
type Event struct {
	Index    int           `json:"index"`
	Time     time.Duration `json:"time"`
	Process  int           `json:"process"`
	Worker   int           `json:"worker"`
	Type     Type          `json:"type"`
	F        F             `json:"f"`
	Key      string        `json:"key,omitempty"`
	Attempt  uint64        `json:"attempt,omitempty"`  // one acquire call; its release, reads and writes carry it too
	Token    int64         `json:"token,omitempty"`    // fencing token, 0 if the lock issues none
	TTL      time.Duration `json:"ttl,omitempty"`      // acquire: the lease asked for. Extend: for how long from its call on. Audit: remaining, or NoTTL. Stall: how long
	Deadline time.Duration `json:"deadline,omitempty"` // acquire, extend OK: when the lock told its holder the lease ends, on the harness clock
	Version  int64         `json:"version,omitempty"`  // register version, see Read and Write
	Value    string        `json:"value,omitempty"`    // acquire: its Mode, WithoutTTL, Invalid or Rejected. Extend: what was asked for if that is not its TTL, Invalid or Rejected. Read, Write: of the register. Audit: of the key. Waited: commands
	Node     string        `json:"node,omitempty"`
	Err      string        `json:"error,omitempty"`
}

// Invalid is the Value of an acquire's or extend's Fail if its arguments were refused, or make
// no sense: that says nothing of who holds the lock.
const Invalid = "invalid"

// Rejected is the Value of an acquire's or extend's Fail if a server refused the command, which
// says nothing of who holds the lock.
const Rejected = "rejected"

// WithoutTTL is the Value of an acquire's Invoke that does not say for how long. Its TTL is then what the lock
// promises for that, and 0 if it promises no end.
const WithoutTTL = "without-ttl"

// WithoutTTL reports whether e is an acquire that does not say for how long.
func (e Event) WithoutTTL() bool { return e.F == Acquire && e.Value == WithoutTTL }

// Invalid reports whether an acquire or extend ended because of its arguments.
func (e Event) Invalid() bool {
	return (e.F == Acquire || e.F == Extend) && e.Type == Fail && e.Value == Invalid
}

// NotHeld reports whether a release, extend or verify was refused because the lease is not the caller's.
func (e Event) NotHeld() bool {
	return (e.F == Release || e.F == Extend || e.F == Verify) && e.Type == Fail && e.Value != Invalid && e.Value != Rejected
}

// Taken reports whether an acquire was refused because somebody has the lock.
func (e Event) Taken() bool {
	return e.F == Acquire && e.Type == Fail && e.Value != Invalid && e.Value != Rejected
}

// NoTTL is the TTL of an Audit event whose key never expires.
const NoTTL time.Duration = -1
