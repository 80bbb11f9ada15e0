package histories

import (
	"bytes"
	"time"
)

// eventFields are the fields of a line, in the order in which they are written.
const eventFields = "index, time, process, worker, type, f, key, attempt, token, ttl, deadline, version, value, node or error"

// eventLine is an Event whose required fields can be missing.
type eventLine struct {
	Index    *int           `json:"index"`
	Time     *time.Duration `json:"time"`
	Process  *int           `json:"process"`
	Worker   *int           `json:"worker"`
	Type     *Type          `json:"type"`
	F        *F             `json:"f"`
	Key      string         `json:"key"`
	Attempt  uint64         `json:"attempt"`
	Token    int64          `json:"token"`
	TTL      time.Duration  `json:"ttl"`
	Deadline time.Duration  `json:"deadline"`
	Version  int64          `json:"version"`
	Value    string         `json:"value"`
	Node     string         `json:"node"`
	Err      string         `json:"error"`
}

// eventParser returns a parser whose events share their strings.
func eventParser() lineParser[Event] {
	in := &interned{}
	return func(line []byte) (Event, error) { return parseEvent(line, in) }
}

// parseEvent parses one line. A line as we write it takes a quick path of its own;
// every other line, sound or not, takes the one that explains. in may be nil.
func parseEvent(line []byte, in *interned) (Event, error) {
	if e, ok := parseCanonical(line, in); ok {
		return e, nil
	}
	return parseAny(line)
}

// parseAny parses any JSON object that has the fields of an Event.
func parseAny(line []byte) (Event, error) {
	var l eventLine
	if err := strict(line, &l, eventFields); err != nil {
		return Event{}, err
	}
	switch {
	case l.Index == nil:
		return Event{}, missing("index")
	case l.Time == nil:
		return Event{}, missing("time")
	case l.Process == nil:
		return Event{}, missing("process")
	case l.Worker == nil:
		return Event{}, missing("worker")
	case l.Type == nil:
		return Event{}, missing("type")
	case l.F == nil:
		return Event{}, missing("f")
	}
	return Event{
		Index: *l.Index, Time: *l.Time, Process: *l.Process, Worker: *l.Worker, Type: *l.Type, F: *l.F,
		Key: l.Key, Attempt: l.Attempt, Token: l.Token, TTL: l.TTL, Deadline: l.Deadline, Version: l.Version,
		Value: l.Value, Node: l.Node, Err: l.Err,
	}, nil
}

// parseCanonical parses the form that appendEvent writes, as long as strings need no
// escapes and numbers have no more than 18 digits. It reports whether it did.
func parseCanonical(line []byte, in *interned) (Event, bool) {
	s := scan{rest: bytes.TrimSuffix(line, []byte{'\n'}), in: in}
	var e Event
	s.must(`{"index":`)
	e.Index = s.int()
	s.must(`,"time":`)
	e.Time = time.Duration(s.integer())
	s.must(`,"process":`)
	e.Process = s.int()
	s.must(`,"worker":`)
	e.Worker = s.int()
	s.must(`,"type":`)
	e.Type = s.eventType()
	s.must(`,"f":`)
	e.F = s.f()
	if s.has(`,"key":`) {
		e.Key = s.in.string(s.text())
	}
	if s.has(`,"attempt":`) {
		e.Attempt = uint64(s.digits())
	}
	if s.has(`,"token":`) {
		e.Token = s.integer()
	}
	if s.has(`,"ttl":`) {
		e.TTL = time.Duration(s.integer())
	}
	if s.has(`,"deadline":`) {
		e.Deadline = time.Duration(s.integer())
	}
	if s.has(`,"version":`) {
		e.Version = s.integer()
	}
	if s.has(`,"value":`) {
		e.Value = s.in.string(s.text())
	}
	if s.has(`,"node":`) {
		e.Node = s.in.string(s.text())
	}
	if s.has(`,"error":`) {
		e.Err = s.in.string(s.text())
	}
	s.must(`}`)
	return e, !s.failed && len(s.rest) == 0
}

// scan consumes a canonical line from the left. Once failed, it stays so.
type scan struct {
	rest   []byte
	failed bool
	in     *interned // may be nil
}

func (s *scan) has(literal string) bool {
	if len(s.rest) < len(literal) || string(s.rest[:len(literal)]) != literal {
		return false
	}
	s.rest = s.rest[len(literal):]
	return true
}

func (s *scan) must(literal string) {
	if !s.has(literal) {
		s.failed = true
	}
}

func (s *scan) integer() int64 {
	if s.has("-") {
		return -s.digits()
	}
	return s.digits()
}

// digits returns a number without a sign.
func (s *scan) digits() int64 {
	const most = 18 // any more could overflow
	var v int64
	n := 0
	for n < len(s.rest) && n <= most && '0' <= s.rest[n] && s.rest[n] <= '9' {
		v = v*10 + int64(s.rest[n]-'0')
		n++
	}
	if n == 0 || n > most || n > 1 && s.rest[0] == '0' {
		s.failed = true
		return 0
	}
	s.rest = s.rest[n:]
	return v
}

func (s *scan) int() int {
	v := s.integer()
	s.failed = s.failed || int64(int(v)) != v
	return int(v)
}

// text returns what stands between two quotes.
func (s *scan) text() []byte {
	s.must(`"`)
	for i, c := range s.rest {
		if c == '"' {
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text
		}
		if !plain(c) {
			break
		}
	}
	s.failed = true
	return nil
}

func (s *scan) eventType() Type {
	text := s.text()
	for t := Info; t <= Fail; t++ {
		if string(text) == t.String() {
			return t
		}
	}
	s.failed = true
	return Info
}

// f spares an allocation for the operations that we know.
func (s *scan) f() F {
	switch text := s.text(); F(text) {
	case Acquire:
		return Acquire
	case Release:
		return Release
	case Extend:
		return Extend
	case Read:
		return Read
	case Write:
		return Write
	case Incr:
		return Incr
	case Draw:
		return Draw
	case Count:
		return Count
	default:
		return F(s.in.string(text))
	}
}
