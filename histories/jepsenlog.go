package histories

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"
)

// decodeJepsenLog reads the log that Jepsen writes while a test runs. A line such as
//
//	INFO  jepsen.util - 3	:invoke	:cas	[3 0]
//
// is an operation: process, :type, :f and :value. Everything else that is logged is no part
// of the history. There are no times in it, so Time only counts the events.
func decodeJepsenLog(r io.Reader, each func(Event) error, d *lineDecoder) error {
	d.serial = true // operations are counted
	return decodeLines(r, d, func() lineParser[Event] { return new(ednEvents).logged }, each)
}

// loggedOp finds what looks like an operation in a line, whatever the logger puts before it.
func loggedOp() *regexp.Regexp {
	return regexp.MustCompile(`jepsen\.\S*(?: -)?\s+(\d+|:nemesis)\s+:(\S+)\s+:(\S+)\s+(.*)`)
}

func (s *ednEvents) logged(line []byte) (Event, error) {
	if s.op == nil {
		s.op = loggedOp()
	}
	m := s.op.FindSubmatch(bytes.TrimRight(line, "\r\n"))
	if m == nil {
		return Event{}, errNoEvent
	}
	e := Event{Index: s.count, Time: time.Duration(s.count), Process: Nemesis, F: F(validString(string(m[3])))}
	if err := e.Type.UnmarshalText(m[2]); err != nil {
		return Event{}, err
	}
	if digit(m[1][0]) {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return Event{}, fmt.Errorf(`"process" is %s, want an integer or :nemesis`, abbreviate(m[1]))
		}
		e.Process, e.Worker = n, n
	} else if !e.Single() {
		e.Type = s.fault(e)
	}
	in := newFormReader(bytes.NewReader(m[4]))
	for i := 0; ; i++ {
		f, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && i == 0:
			return Event{}, missing("value")
		case errors.Is(err, io.EOF):
			s.count++
			return e, nil
		case errors.Is(err, errUnfinished):
			return Event{}, fmt.Errorf("the value %q is cut short, want EDN", abbreviate(m[4]))
		case err != nil:
			return Event{}, fmt.Errorf("the value %q is not EDN: %w", abbreviate(m[4]), err)
		case i == 0:
			e.Value = textOf(f)
		case i == 1:
			e.Err = textOf(f)
		}
	}
}
