// Package worker runs a client of the lock in a process of its own, in any language:
// the harness and the process talk in JSON lines on the process's standard input and
// output (docs/worker-protocol.md). Serve is the process's side for the locks of this
// project; Fleet is the harness's side.
//
//	harness ── JSON lines ── worker process ── TCP ── our listener ── wire.Link ── server
package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Protocol is the version of the protocol that this package speaks. It speaks every one from
// oldest on.
const (
	Protocol = 2
	oldest   = 1
)

// maxLine bounds a line of either side, in bytes.
const maxLine = 1 << 20

// Op is what a Request asks for.
type Op string

// The requests, in the order in which they come; Count at any time.
const (
	Hello     Op = "hello"
	Configure Op = "configure"
	Acquire   Op = "acquire"
	Read      Op = "read"
	Write     Op = "write"
	Extend    Op = "extend"
	Release   Op = "release"
	Verify    Op = "verify" // of a lease: whether it is still the caller's
	Count     Op = "count"
)

// Request is a line from the harness. A worker answers one before it gets the next of the same
// thread.
type Request struct {
	ID int64 `json:"id"` // counts up from 1
	Op Op    `json:"op"`

	// Protocol and Newest are the oldest and the newest version that the harness speaks. A
	// worker of version 1 knows the first only.
	Protocol int `json:"protocol,omitempty"` // hello
	Newest   int `json:"newest,omitempty"`   // hello
	*Setting     // configure; hello: the lock

	// Thread is which thread of the process asks, from 0 on. Only a worker that has CanThreads
	// is asked by others than 0.
	Thread  int64   `json:"thread,omitempty"`
	Key     string  `json:"key,omitempty"`     // acquire, count
	Mode    Mode    `json:"mode,omitempty"`    // acquire
	TTL     float64 `json:"ttl,omitempty"`     // acquire, extend: the lease asked for, in ms. Extend: may be 0 or less. Acquire: without one it is not said for how long
	Lease   int64   `json:"lease,omitempty"`   // read, write, extend, verify, release: the id of the acquire
	Wait    float64 `json:"wait,omitempty"`    // acquire: for how many ms to wait for the lock; 0: try once
	Value   int64   `json:"value,omitempty"`   // write
	Timeout float64 `json:"timeout,omitempty"` // after so many ms the worker gives up: unknown
}

// Mode says what lease an acquire asks for.
type Mode string

// The modes. Only a worker that has CanShare is asked for Shared.
const (
	Exclusive Mode = ""     // the only one of most locks, a writer's of others
	Shared    Mode = "read" // a reader's
)

// Setting is what a worker is told once, with the request configure.
type Setting struct {
	// Lock is the one of the catalogue that the user has asked for. Empty: the worker has one
	// lock, its own.
	Lock     string   `json:"lock,omitempty"`
	Guard    string   `json:"guard,omitempty"`
	Nodes    []string `json:"nodes,omitempty"` // host:port of the lock's masters
	Register Register `json:"register,omitzero"`
	Client   string   `json:"client,omitempty"`   // for people: A, B, ...
	Identity string   `json:"identity,omitempty"` // of this process, for locks that know their owner by name
	Seed     string   `json:"seed,omitempty"`     // hexadecimal; of everything that the lock draws
	// Connect asks to connect to every server now, and to fail if one does not answer.
	// Without it the servers may be down just now.
	Connect bool `json:"connect,omitempty"`
}

// Register says how the protected register is reached.
type Register struct {
	Address string `json:"address"`
	// Suffix makes the register's key of the lock's.
	Suffix string `json:"suffix"`
	// Read, Write and Enter are Lua scripts with that key as KEYS[1].
	Read  string `json:"read"`
	Write string `json:"write"`
	Enter string `json:"enter"`
}

// Type is what became of a request.
type Type string

// The types of an Answer.
const (
	OK      Type = "ok"      // it happened
	Fail    Type = "fail"    // it certainly did not happen
	Unknown Type = "unknown" // nobody knows
	Error   Type = "error"   // the worker cannot do what was asked; the run is over
)

// Reason says why a request failed, for a worker that can tell.
type Reason string

// The reasons. Taken is that of an acquire without one, NotHeld of everything else.
const (
	Taken    Reason = "taken"    // somebody else holds the lock
	NotHeld  Reason = "not-held" // the lease is no longer the caller's
	Stale    Reason = "stale"    // the register refused the fencing token
	Elapsed  Reason = "elapsed"  // by the worker's clock the lease has ended
	Invalid  Reason = "invalid"  // the lock does not take such a key or lease
	Rejected Reason = "rejected" // the server refused the command before it executed it
	Done     Reason = "done"     // guard done-marker found it done already
)

// Answer is a line from the worker: the answer to a request, or an event.
type Answer struct {
	ID     int64  `json:"id,omitempty"`
	Type   Type   `json:"type,omitempty"`
	Reason Reason `json:"reason,omitempty"` // of fail
	Error  string `json:"error,omitempty"`  // in words, of every type but ok

	Protocol int      `json:"protocol,omitempty"` // hello
	Worker   string   `json:"worker,omitempty"`   // hello: what it is, for people
	PID      int      `json:"pid,omitempty"`      // hello: the process to stop, if not the one that was started
	Can      []string `json:"can,omitempty"`      // hello: capabilities

	// What hello says of the lock, from version 2 on.
	Guards   []string  `json:"guards,omitempty"`   // that the worker knows; none: only the one named none
	Keys     []string  `json:"keys,omitempty"`     // the names under which the lock %s is kept; none: that is not told
	Database int       `json:"database,omitempty"` // in which they are
	Promises *Promised `json:"promises,omitempty"`

	Token int64 `json:"token,omitempty"` // the fencing token, 0 if there is none
	// Remaining is for how many ms from the reading of the request the lease lasts, as
	// the lock tells its holder; of a lost event, from that event. Nil: no end was told.
	Remaining *float64 `json:"remaining,omitempty"` // acquire, extend, lost
	Value     int64    `json:"value,omitempty"`     // read
	Version   int64    `json:"version,omitempty"`   // read: the version seen; write: the one replaced
	Count     int64    `json:"count,omitempty"`     // count: how often the client holds the key

	Event Event `json:"event,omitempty"`
	Lease int64 `json:"lease,omitempty"` // lost: the id of the acquire

	gone chan struct{} // acquire, ok: closed when a lost event comes
}

// Event is what a worker tells without being asked.
type Event string

// Lost says that the lock has told its holder that a lease is gone.
const Lost Event = "lost"

// The capabilities.
const (
	CanExtend  = "extend"
	CanLost    = "lost"
	CanShare   = "share"   // acquire with the mode Shared
	CanReenter = "reenter" // count
	CanWait    = "wait"    // acquire with a wait
	CanVerify  = "verify"

	CanWithoutTTL = "without-ttl" // acquire without a ttl
	CanThreads    = "threads"     // requests of several threads, each with its number, at the same time

	CanReleaseTwice   = "release-twice"   // release of a lease that was released last
	CanReleaseRefused = "release-refused" // release of what the latest acquire was refused, by its id
)

// longest is how many ms can be told of: all that a time.Duration holds.
const longest = float64(math.MaxInt64 / time.Millisecond)

// parse reads a line of a worker. Unknown fields are ignored.
func parse(line []byte) (Answer, error) {
	var a Answer
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("it is no JSON object of the protocol: %w", err)
	}
	switch a.Event {
	case "":
	case Lost:
		return a, nil
	default:
		return a, fmt.Errorf("there is no event %q, only %q", a.Event, Lost)
	}
	switch a.Type {
	case OK, Fail, Unknown, Error:
	default:
		return a, fmt.Errorf("its type is %q, want %q, %q, %q or %q", a.Type, OK, Fail, Unknown, Error)
	}
	if a.ID <= 0 {
		return a, errors.New("it has no id of a request, and is no event")
	}
	if r := a.Remaining; r != nil && (*r > longest || *r < -longest) {
		return a, fmt.Errorf("its remaining is %g ms, want at most %g; a lease without an end has none", *r, longest)
	}
	return a, nil
}

// milliseconds are how the protocol counts time.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
