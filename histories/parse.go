package histories

import (
	"math"
	"time"
	"unicode/utf8"
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

// parseEvent parses one line. A plain line takes a quick path of its own; every other
// line, sound or not, takes the one that explains. in may be nil.
func parseEvent(line []byte, in *interned) (Event, error) {
	if e, ok := parsePlain(line, in); ok {
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

// parsePlain parses an Event whose strings need no escapes and whose numbers are integers
// of no more than 18 digits: what we write, and what most others do. It reports whether it did.
func parsePlain(line []byte, in *interned) (Event, bool) {
	s := scan{rest: line, in: in}
	var e Event
	var seen fields
	s.must('{')
	for {
		name := s.text()
		s.must(':')
		var field fields
		switch string(name) {
		case "index":
			field, e.Index = indexBit, s.int()
		case "time":
			field, e.Time = timeBit, time.Duration(s.integer())
		case "process":
			field, e.Process = processBit, s.int()
		case "worker":
			field, e.Worker = workerBit, s.int()
		case "type":
			field, e.Type = typeBit, s.eventType()
		case "f":
			field, e.F = fBit, s.f()
		case "key":
			field, e.Key = keyBit, s.in.string(s.text())
		case "attempt":
			field, e.Attempt = attemptBit, uint64(s.digits())
		case "token":
			field, e.Token = tokenBit, s.integer()
		case "ttl":
			field, e.TTL = ttlBit, time.Duration(s.integer())
		case "deadline":
			field, e.Deadline = deadlineBit, time.Duration(s.integer())
		case "version":
			field, e.Version = versionBit, s.integer()
		case "value":
			field, e.Value = valueBit, s.in.string(s.text())
		case "node":
			field, e.Node = nodeBit, s.in.string(s.text())
		case "error":
			field, e.Err = errBit, s.in.string(s.text())
		}
		if s.failed || field == 0 || seen&field != 0 {
			return Event{}, false
		}
		seen |= field
		if s.has('}') {
			break
		}
		s.must(',')
	}
	s.blanks()
	return e, len(s.rest) == 0 && seen&required == required
}

// fields are fields of a line, one bit each.
type fields uint16

const (
	indexBit fields = 1 << iota
	timeBit
	processBit
	workerBit
	typeBit
	fBit
	keyBit
	attemptBit
	tokenBit
	ttlBit
	deadlineBit
	versionBit
	valueBit
	nodeBit
	errBit

	required = indexBit | timeBit | processBit | workerBit | typeBit | fBit
)

// scan consumes a line from the left. Once failed, it stays so.
type scan struct {
	rest   []byte
	failed bool
	in     *interned // may be nil
}

func (s *scan) blanks() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\r' || s.rest[0] == '\n') {
		s.rest = s.rest[1:]
	}
}

// next reports whether c is what stands next.
func (s *scan) next(c byte) bool {
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// has reports whether c follows, after blanks.
func (s *scan) has(c byte) bool {
	s.blanks()
	return s.next(c)
}

func (s *scan) must(c byte) {
	if !s.has(c) {
		s.failed = true
	}
}

func (s *scan) integer() int64 {
	if s.has('-') {
		return -s.unsigned()
	}
	return s.unsigned()
}

// digits returns a number without a sign.
func (s *scan) digits() int64 {
	s.blanks()
	return s.unsigned()
}

func (s *scan) unsigned() int64 {
	const most = 19 // digits: nanoseconds since 1970 have as many, and no more fit into 64 bits
	var v uint64
	n := 0
	for n < len(s.rest) && n <= most && '0' <= s.rest[n] && s.rest[n] <= '9' {
		v = v*10 + uint64(s.rest[n]-'0')
		n++
	}
	if n == 0 || n > most || v > math.MaxInt64 || n > 1 && s.rest[0] == '0' {
		s.failed = true
		return 0
	}
	s.rest = s.rest[n:]
	return int64(v)
}

func (s *scan) int() int {
	v := s.integer()
	s.failed = s.failed || int64(int(v)) != v
	return int(v)
}

// text returns what stands between two quotes.
func (s *scan) text() []byte {
	s.must('"')
	var all byte
	for i, c := range s.rest {
		if c == '"' {
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			s.failed = s.failed || all >= utf8.RuneSelf && !utf8.Valid(text)
			return text
		}
		if c < ' ' || c == '\\' {
			break
		}
		all |= c
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
