package histories

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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
	calls    []foreignCall
	workers  map[string]int
	keys     interned
	stamped  bool // times are of a calendar
	counted  bool // times are numbers
	earliest int64
	latest   int64
}

// add adds the call of a row, whose fields are texts; one that is missing is empty.
func (c *callReader) add(line int, field func(string) string) error {
	if len(c.calls) == mostCalls {
		return fmt.Errorf("there are more than %d calls, want a shorter file", mostCalls)
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
	var err error
	if call.from, err = c.instant("from", field("from")); err != nil {
		return err
	}
	if !call.open {
		if call.to, err = c.instant("to", field("to")); err != nil {
			return err
		}
		if call.to < call.from {
			return badField("to", "is %s before \"from\", want the end of the call", time.Duration(call.from-call.to))
		}
	}
	if text := field("ttl"); text != "" {
		if call.ttl, err = span(text); err != nil || call.ttl < 0 {
			return badField("ttl", "is %q, want a duration such as 30s, or nanoseconds", abbreviate([]byte(text)))
		}
	}
	if text := field("token"); text != "" {
		if call.token, err = strconv.ParseInt(text, 10, 64); err != nil {
			return badField("token", "is %q, want an integer", abbreviate([]byte(text)))
		}
	}
	call.worker = c.worker(who)
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

// instant reads a time: of a calendar, or a number since some instant. Both cannot be set
// against each other.
func (c *callReader) instant(field, text string) (int64, error) {
	var at int64
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		if at = t.UnixNano(); !time.Unix(0, at).Equal(t) {
			return 0, badField(field, "is %q, want a year from 1678 to 2261", text)
		}
		c.stamped = true
	} else {
		d, err := span(text)
		if err != nil {
			return 0, badField(field, "is %q, want a time such as 2026-01-31T12:00:00.123456Z, nanoseconds, or a duration such as 1.5s", abbreviate([]byte(text)))
		}
		at, c.counted = int64(d), true
	}
	if c.stamped && c.counted {
		return 0, badField(field, "is %q, and others are of another kind; want all times with a date, or none", abbreviate([]byte(text)))
	}
	if len(c.calls) == 0 && field == "from" {
		c.earliest, c.latest = at, at
	}
	c.earliest, c.latest = min(c.earliest, at), max(c.latest, at)
	if c.latest-c.earliest < 0 {
		return 0, badField(field, "is %q, too far from other times, want all within 292 years", text)
	}
	return at, nil
}

// span reads a duration: nanoseconds, or a number with its unit.
func span(text string) (time.Duration, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(n), nil
	}
	return time.ParseDuration(text)
}

// A mark is the beginning or the end of a call.
type mark struct {
	call *foreignCall
	end  bool
	at   int64
	rank int // among marks of one time
}

// events calls each with the events of the calls, in order of time. The first is at 0.
func (c *callReader) events(name string, each func(Event) error) error {
	if err := c.pair(name); err != nil {
		return err
	}
	for n, m := range c.marks() {
		call := m.call
		e := Event{
			Index: n, Time: time.Duration(m.at - c.earliest), Process: call.process, Worker: call.worker, Type: Invoke, F: call.f,
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
func (c *callReader) pair(name string) error {
	slices.SortStableFunc(c.calls, func(a, b foreignCall) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	type hold struct {
		worker int
		key    string
	}
	granted, last := make(map[hold]uint64), make(map[hold]uint64)
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
			return &CallError{name, call.line, 1, fmt.Errorf("the %s of %q has no acquire of the same client and key before it; want the log from its beginning on", call.f, abbreviate([]byte(call.key)))}
		}
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

// shortLines is a reader that fails where a row is longer than maxLine.
type shortLines struct {
	r    io.Reader
	left int
}

var errLongRow = errors.New("the row is longer than 16 MiB, want one call")

func (s *shortLines) begin() { s.left = maxLine }

func (s *shortLines) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, errLongRow
	}
	n, err := s.r.Read(p)
	s.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		err = &inputError{err}
	}
	return n, err
}
