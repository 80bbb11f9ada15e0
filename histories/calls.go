package histories

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A foreignCall is a call as an application's own log has it: one row with its beginning and end.
type foreignCall struct {
	worker   int
	f        F
	key      string
	from, to int64 // ns; to is at least from, and means nothing if the call is open
	open     bool  // it has no end
	outcome  Type
	ttl      time.Duration
	token    int64
	attempt  uint64
	process  int
	line     int
}

// callFields are the fields of a call, of which the first six are wanted.
func callFields() []string {
	return []string{"who", "what", "key", "from", "to", "outcome", "ttl", "token"}
}

const (
	wantedFields = 6
	mostCalls    = 5_000_000
)

var (
	errTooManyCalls = fmt.Errorf("there are more than %d calls, want a shorter file", mostCalls)
	errLongRow      = fmt.Errorf("the row is longer than %d MiB, want one call", maxLine>>20)
)

// A CallError says where a file of calls is not what it should be.
type CallError struct {
	File         string
	Line, Column int // from 1
	Err          error
}

func (e *CallError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

func (e *CallError) Unwrap() error { return e.Err }

// A fieldError is an error of one field of a call.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return fmt.Sprintf("%q %v", e.field, e.err) }
func (e *fieldError) Unwrap() error { return e.err }

func badField(field, format string, args ...any) error {
	return &fieldError{field, fmt.Errorf(format, args...)}
}

// callReader makes calls of rows, in any order, and then a history of the calls.
type callReader struct {
	told    *lineDecoder // of what is not sound
	calls   []foreignCall
	workers map[string]int
	keys    interned
	clock   foreignClock
}

// bad is what becomes of a row that is not sound: an error, unless such rows are skipped.
func (c *callReader) bad(line, column int, err error) error {
	if c.told.skip == nil || isInput(err) && !damaged(err) {
		return &CallError{c.told.name, line, column, err}
	}
	c.told.sound = len(c.calls)
	return c.told.bad(line, fmt.Errorf("column %d: %w", column, err))
}

// add adds the call of a row, whose fields are texts; one that is missing is empty.
func (c *callReader) add(line int, field func(string) string) error {
	if len(c.calls) == mostCalls {
		return errTooManyCalls
	}
	call := foreignCall{line: line}
	who := field("who")
	if who == "" {
		return badField("who", "is empty, want the name of the client")
	}
	switch f := callAs(field("what")); f {
	case Acquire, Release, Extend:
		call.f = f
	default:
		return badField("what", "is %q, want acquire, extend or release", abbreviate([]byte(field("what"))))
	}
	call.key = c.keys.string([]byte(validString(field("key"))))
	if err := call.ends(field("outcome"), field("to")); err != nil {
		return err
	}
	clock := c.clock // a row that is refused says nothing of it
	if err := clock.times(&call, field("from"), field("to")); err != nil {
		return err
	}
	if err := call.grants(field("ttl"), field("token")); err != nil {
		return err
	}
	c.clock, call.worker = clock, c.worker(who)
	c.calls = append(c.calls, call)
	return nil
}

// callAs is the F of a call; lock and unlock are other names.
func callAs(what string) F {
	switch what {
	case "lock":
		return Acquire
	case "unlock":
		return Release
	}
	return F(what)
}

// ends sets how the call ended.
func (call *foreignCall) ends(outcome, to string) error {
	switch outcome {
	case "unknown", "":
		call.outcome = Info
	default:
		if err := call.outcome.UnmarshalText([]byte(outcome)); err != nil || call.outcome == Invoke {
			return badField("outcome", "is %q, want ok, fail or info (unknown)", abbreviate([]byte(outcome)))
		}
	}
	if call.open = to == ""; call.open && call.outcome != Info {
		return badField("to", "is empty, want the end of a call whose outcome is %s", call.outcome)
	}
	return nil
}

func (c *callReader) worker(who string) int {
	n, known := c.workers[who]
	if !known {
		if c.workers == nil {
			c.workers = make(map[string]int)
		}
		n = len(c.workers)
		c.workers[who] = n
	}
	return n
}

// grants sets what was asked for and granted.
func (call *foreignCall) grants(ttl, token string) error {
	var err error
	if ttl != "" {
		if call.ttl, err = span(ttl); err != nil || call.ttl < 0 {
			return badField("ttl", "is %q, want a duration such as 30s, or nanoseconds", abbreviate([]byte(ttl)))
		}
	}
	if token != "" {
		if call.token, err = strconv.ParseInt(token, 10, 64); err != nil {
			return badField("token", "is %q, want an integer", abbreviate([]byte(token)))
		}
	}
	return nil
}

// A mark is the beginning or the end of a call.
type mark struct {
	call *foreignCall
	end  bool
	at   int64
	rank int // among marks of one time
}

// events calls each with the events of the calls, in order of time. The first is at 0.
func (c *callReader) events(each func(Event) error) error {
	if err := c.pair(); err != nil {
		return err
	}
	for n, m := range c.marks() {
		call := m.call
		e := Event{
			Index: n, Time: time.Duration(m.at - c.clock.earliest), Process: call.process, Worker: call.worker, Type: Invoke, F: call.f,
			Key: call.key, Attempt: call.attempt,
		}
		if m.end {
			e.Type = call.outcome
			if call.outcome == OK {
				e.Token = call.token
			}
		} else {
			e.TTL = call.ttl
		}
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// pair finds the acquire that each call belongs to, the last of its client on its key that was
// granted or may have been, and gives every call a process.
func (c *callReader) pair() error {
	slices.SortStableFunc(c.calls, func(a, b foreignCall) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	type hold struct {
		worker int
		key    string
	}
	granted, last := make(map[hold]uint64), make(map[hold]uint64)
	orphans := 0
	for i := range c.calls {
		call := &c.calls[i]
		h := hold{call.worker, call.key}
		call.process = i
		if call.f == Acquire {
			call.attempt = uint64(i) + 1
			last[h] = call.attempt
			if call.outcome != Fail {
				granted[h] = call.attempt
			}
			continue
		}
		if call.attempt = cmp.Or(granted[h], last[h]); call.attempt == 0 {
			orphans++
			if err := c.bad(call.line, 1, fmt.Errorf("the %s of %q has no acquire of the same client and key before it; want the log from its beginning on", call.f, abbreviate([]byte(call.key)))); err != nil {
				return err
			}
		}
	}
	if orphans > 0 {
		c.calls = slices.DeleteFunc(c.calls, func(call foreignCall) bool { return call.attempt == 0 })
	}
	return nil
}

// marks are the beginnings and ends of all calls in order of time. Of two of the same time and of
// different clients a beginning comes first: the calls may have overlapped. Those of one client are in
// its own order, and an end that nothing of the client follows is as late as can be.
func (c *callReader) marks() []mark {
	marks := make([]mark, 0, 2*len(c.calls))
	for i := range c.calls {
		call := &c.calls[i]
		marks = append(marks, mark{call: call, at: call.from})
		if !call.open {
			marks = append(marks, mark{call: call, end: true, at: call.to})
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.call.worker, b.call.worker), cmp.Compare(a.at, b.at), cmp.Compare(a.own(), b.own()))
	})
	for i := range marks {
		m := &marks[i]
		if i > 0 && marks[i-1].at == m.at && marks[i-1].call.worker == m.call.worker {
			m.rank = marks[i-1].rank + 1
		}
		if m.end && m.rank == 0 {
			m.rank = 1 // behind the beginnings of others
		}
	}
	for i := range marks {
		m := &marks[i]
		follows := i+1 < len(marks) && marks[i+1].at == m.at && marks[i+1].call.worker == m.call.worker
		if m.end && !follows {
			m.rank = len(marks)
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })
	return marks
}

// own orders marks of one client and time: ends of calls that began earlier, calls that
// begin and end now, and beginnings of those that go on.
func (m mark) own() int {
	switch {
	case m.end && m.call.from < m.at:
		return 0
	case !m.call.open && m.call.to == m.call.from:
		return 1
	}
	return 2
}
