package wire

import (
	"bytes"
	"fmt"
)

// A scanner finds where a command or a reply ends while its bytes arrive. It
// looks at every byte once and keeps none, so what is forwarded is what came.

// scanState is the part of a value that the next byte belongs to.
type scanState uint8

const (
	atHead    scanState = iota // the first byte of a value
	inText                     // a line whose length is not known
	inPayload                  // a bulk string
	atCR                       // the end of a bulk string
	atLF
)

// replyScanner scans replies of every RESP2 and RESP3 type. The zero value is
// between two replies.
type replyScanner struct {
	state scanState
	cr    bool  // inText: the last byte was \r
	todo  int64 // values still to come in this reply
	bulk  int64 // bytes of payload still to come
}

// scan consumes a prefix of b and says whether a reply ended with it. Only a
// length line is left unconsumed until it is complete.
func (s *replyScanner) scan(b []byte) (n int, done bool, err error) {
	for n < len(b) {
		switch s.state {
		case atHead:
			if s.todo == 0 {
				s.todo = 1
			}
			switch b[n] {
			case '+', '-', ':', ',', '(', '#', '_':
				s.state, s.cr = inText, false
				n++
				continue
			case '$', '!', '=', '*', '~', '>', '%', '|':
			default:
				return n, false, syntaxError("a reply", b[n:])
			}
			size, used, err := scanHeader(b[n:])
			if err != nil || used == 0 {
				return n, false, err
			}
			done = s.head(b[n], size)
			n += used
		case inText:
			i := bytes.IndexByte(b[n:], '\n')
			if i < 0 {
				s.cr = b[len(b)-1] == '\r'
				return len(b), false, nil
			}
			if i > 0 {
				s.cr = b[n+i-1] == '\r'
			}
			if !s.cr {
				return n, false, syntaxError("a line ending in \\r\\n", b[n:n+i+1])
			}
			n += i + 1
			done = s.value()
		default:
			used, ended, err := scanPayload(b[n:], &s.state, &s.bulk)
			if err != nil {
				return n, false, err
			}
			n += used
			if ended {
				done = s.value()
			}
		}
		if done {
			return n, true, nil
		}
	}
	return n, false, nil
}

// head takes a length line and says whether the reply ends with it.
func (s *replyScanner) head(typ byte, size int64) bool {
	switch typ {
	case '$', '!', '=':
		if size < 0 {
			return s.value()
		}
		s.state, s.bulk = inPayload, size
		return false
	case '|': // attributes come before a value and do not count as one
		s.todo += 2 * size
		return false
	case '%':
		size *= 2
	}
	s.todo += max(size, 0)
	return s.value()
}

func (s *replyScanner) value() bool {
	s.state = atHead
	s.todo--
	return s.todo == 0
}

// scanHeader reads a length line at the start of b. It uses 0 bytes if the line
// is not complete yet.
func scanHeader(b []byte) (size int64, used int, err error) {
	i := bytes.IndexByte(b[:min(len(b), maxHeader)], '\n')
	switch {
	case i < 0 && len(b) < maxHeader:
		return 0, 0, nil
	case i < 2 || b[i-1] != '\r':
		return 0, 0, syntaxError("a length and \\r\\n", b)
	}
	size, err = parseLength(b[:i-1])
	return size, i + 1, err
}

// scanPayload goes through a bulk string and its line end.
func scanPayload(b []byte, state *scanState, left *int64) (n int, ended bool, err error) {
	if *state == inPayload {
		n = int(min(*left, int64(len(b))))
		*left -= int64(n)
		if *left > 0 {
			return n, false, nil
		}
		*state = atCR
	}
	for ; n < len(b); n++ {
		if want := "\r\n"[*state-atCR]; b[n] != want {
			return n, false, syntaxError("\\r\\n after a bulk string", b[n:])
		}
		if *state == atLF {
			*state = atHead
			return n + 1, true, nil
		}
		*state = atLF
	}
	return n, false, nil
}

type span struct{ from, to int }

// commandScanner scans one command, an array of bulk strings or an inline line.
// The zero value is ready; reset makes it ready again.
type commandScanner struct {
	state  scanState
	begun  bool
	pos    int   // bytes of the command scanned so far
	left   int64 // arguments still to come
	bulk   int64
	args   []span // complete arguments, from the first byte of the command
	inline [][]byte
	fields [][]byte // scratch for words
	blind  bool     // the first bytes are gone: arguments are no longer kept
}

func (s *commandScanner) reset() {
	*s = commandScanner{args: s.args[:0], fields: s.fields[:0]}
}

// scan goes on in b, which holds the command from its first byte, and says
// whether the command is complete. Its length is then s.pos.
func (s *commandScanner) scan(b []byte) (done bool, err error) {
	if !s.begun && len(b) > 0 && b[0] != '*' {
		return s.scanInline(b)
	}
	for s.pos < len(b) {
		if s.state != atHead {
			used, ended, err := scanPayload(b[s.pos:], &s.state, &s.bulk)
			if err != nil {
				return false, err
			}
			s.pos += used
			if !ended {
				continue
			}
			if !s.blind {
				s.args[len(s.args)-1].to = s.pos - 2
			}
			s.left--
			if s.left == 0 {
				return true, nil
			}
			continue
		}
		if s.begun && b[s.pos] != '$' {
			return false, syntaxError("$ and the length of an argument", b[s.pos:])
		}
		size, used, err := scanHeader(b[s.pos:])
		if err != nil || used == 0 {
			return false, err
		}
		line := b[s.pos : s.pos+used]
		s.pos += used
		if !s.begun {
			s.begun, s.left = true, size
			if size <= 0 {
				return true, nil
			}
			continue
		}
		if size < 0 {
			return false, syntaxError("$ and the length of an argument", line)
		}
		s.state, s.bulk = inPayload, size
		if !s.blind {
			s.args = append(s.args, span{s.pos, -1})
		}
	}
	return false, nil
}

func (s *commandScanner) scanInline(b []byte) (bool, error) {
	i := bytes.IndexByte(b[s.pos:], '\n')
	if i < 0 {
		s.pos = len(b)
	} else {
		s.pos += i + 1
	}
	if s.pos > maxLine {
		return false, fmt.Errorf("%w: expected an inline command of at most %d bytes", ErrProtocol, maxLine)
	}
	if i < 0 {
		return false, nil
	}
	var err error
	s.inline, err = splitInline(b[:s.pos])
	return true, err
}

// words are the complete arguments, the name first. They are valid until b
// changes. A command without any is blank: Redis skips it without a reply.
func (s *commandScanner) words(b []byte) [][]byte {
	if s.inline != nil {
		return s.inline
	}
	s.fields = s.fields[:0]
	for _, a := range s.args {
		if a.to >= 0 {
			s.fields = append(s.fields, b[a.from:a.to])
		}
	}
	return s.fields
}

// forget tells the scanner that the bytes scanned so far were given away.
func (s *commandScanner) forget() {
	s.blind, s.pos, s.args = true, 0, s.args[:0]
}
