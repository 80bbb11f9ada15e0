package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrProtocol is wrapped by every error about bytes that are not RESP.
var ErrProtocol = errors.New("protocol error")

const (
	maxLine     = 64 << 10  // longest text line and inline command, as in Redis
	maxHeader   = 32        // longest "$<length>\r\n"
	maxBulk     = 512 << 20 // longest bulk string that is read into memory, as in Redis
	maxElements = 1<<31 - 1
	maxDepth    = 128
)

// Reply is one RESP2 or RESP3 value. Its type byte is the one on the wire:
//
//   - simple string   - error         : integer    $ bulk string   * array
//     _ null            , double        # boolean    ! bulk error    = verbatim string
//     ( big number      % map           ~ set        > push
type Reply struct {
	Type  byte
	Str   string  // a scalar's text as sent; of a verbatim string with its "txt:" prefix
	Null  bool    // $-1, *-1 and _
	Elems []Reply // elements of * ~ > and, keys and values in turn, of %
	Attrs []Reply // attributes sent before the value, keys and values in turn; nil if none were
}

// ReplyError is a node's refusal, such as "NOSCRIPT No matching script".
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// Err is the node's refusal as a ReplyError, or nil if the reply is no error.
func (r Reply) Err() error {
	if r.Type == '-' || r.Type == '!' {
		return ReplyError(r.Str)
	}
	return nil
}

// Text is the text of a scalar, without the prefix of a verbatim string. It is
// "" for a null and for an aggregate.
func (r Reply) Text() string {
	if r.Type == '=' && len(r.Str) >= 4 && r.Str[3] == ':' {
		return r.Str[4:]
	}
	return r.Str
}

// Int is the value of an integer, or of a string that spells one.
func (r Reply) Int() (int64, error) {
	if err := r.Err(); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(r.Text(), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("expected an integer reply, found %s", r)
	}
	return n, nil
}

// String is the reply for people: abbreviated, on one line, without control
// characters.
func (r Reply) String() string {
	switch r.Type {
	case '-', '!':
		return printable(truncate(r.Str, 80))
	case '*', '~', '>', '%':
		if r.Null {
			return "nil"
		}
		const shown = 4
		var b strings.Builder
		b.WriteByte('[')
		for i, e := range r.Elems {
			if i > 0 {
				b.WriteByte(' ')
			}
			if i == shown {
				fmt.Fprintf(&b, "… +%d", len(r.Elems)-shown)
				break
			}
			b.WriteString(e.String())
		}
		b.WriteByte(']')
		return b.String()
	}
	if r.Null {
		return "nil"
	}
	return abbreviate(r.Text())
}

// AppendCommand appends args, the command name first, as an array of bulk
// strings.
func AppendCommand(dst []byte, args ...string) []byte {
	dst = appendHeader(dst, '*', len(args))
	for _, a := range args {
		dst = appendBulk(dst, '$', a)
	}
	return dst
}

func appendHeader(dst []byte, typ byte, n int) []byte {
	dst = append(dst, typ)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, "\r\n"...)
}

func appendBulk(dst []byte, typ byte, s string) []byte {
	dst = appendHeader(dst, typ, len(s))
	dst = append(dst, s...)
	return append(dst, "\r\n"...)
}

// ReadReply reads one reply. A reply cut short is io.ErrUnexpectedEOF, no reply
// at all is io.EOF, and anything that is not RESP wraps ErrProtocol. Memory grows
// with the bytes that arrive, not with the lengths that they claim; a bulk string
// beyond 512 MB is refused.
func ReadReply(r *bufio.Reader) (Reply, error) {
	return readValue(r, 0)
}

func readValue(r *bufio.Reader, depth int) (Reply, error) {
	if depth > maxDepth {
		return Reply{}, fmt.Errorf("%w: expected a reply nested at most %d deep", ErrProtocol, maxDepth)
	}
	line, err := readLine(r)
	if err != nil {
		if depth > 0 {
			err = unexpected(err)
		}
		return Reply{}, err
	}
	if len(line) == 0 {
		return Reply{}, syntaxError("a reply", line)
	}
	v := Reply{Type: line[0]}
	switch v.Type {
	case '+', '-', ':', ',', '(', '#', '_':
		v.Str = string(line[1:])
		v.Null = v.Type == '_'
		if !validScalar(v.Type, v.Str) {
			return Reply{}, syntaxError("a reply", line)
		}
		return v, nil
	case '$', '!', '=':
		n, err := parseLength(line)
		if err != nil {
			return Reply{}, err
		}
		if n < 0 {
			v.Null = true
			return v, nil
		}
		v.Str, err = readBulk(r, n)
		return v, err
	case '|':
		return readAttributed(r, line, depth)
	case '*', '~', '>', '%':
		n, err := parseLength(line)
		if err != nil {
			return Reply{}, err
		}
		if n < 0 {
			v.Null = true
			return v, nil
		}
		if v.Type == '%' {
			n *= 2
		}
		v.Elems, err = readElements(r, n, depth)
		return v, err
	}
	return Reply{}, syntaxError("a reply", line)
}

// readAttributed reads the attributes that line announces and the reply that they are of.
func readAttributed(r *bufio.Reader, line []byte, depth int) (Reply, error) {
	n, err := parseLength(line)
	if err != nil {
		return Reply{}, err
	}
	attrs, err := readElements(r, 2*n, depth)
	if err != nil {
		return Reply{}, err
	}
	v, err := readValue(r, depth+1)
	if err == nil && v.Attrs != nil {
		return Reply{}, fmt.Errorf("%w: expected a reply after its attributes, found more attributes", ErrProtocol)
	}
	v.Attrs = attrs
	return v, err
}

// mostAhead is for how many elements there is room before they come.
const mostAhead = 32

// readElements never returns nil for success: an empty list differs from none.
func readElements(r *bufio.Reader, n int64, depth int) ([]Reply, error) {
	list := make([]Reply, 0, min(n, mostAhead)) // who announces many need not send them
	for range n {
		e, err := readValue(r, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func validScalar(typ byte, s string) bool {
	switch typ {
	case ':':
		_, err := strconv.ParseInt(s, 10, 64)
		return err == nil
	case '#':
		return s == "t" || s == "f"
	case '_':
		return s == ""
	}
	return true
}

// readLine reads up to CRLF and returns the line without it. The line is valid
// until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) && len(long)+len(part) <= maxLine {
			long = append(long, part...)
			continue
		}
		if len(long) > 0 {
			part = append(long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || len(part) > maxLine:
			return nil, fmt.Errorf("%w: expected a line of at most %d bytes", ErrProtocol, maxLine)
		case err != nil && len(part) > 0:
			return nil, unexpected(err)
		case err != nil:
			return nil, err
		case len(part) < 2 || part[len(part)-2] != '\r':
			return nil, syntaxError("a line ending in \\r\\n", part)
		}
		return part[:len(part)-2], nil
	}
}

func readBulk(r *bufio.Reader, n int64) (string, error) {
	if n > maxBulk {
		return "", fmt.Errorf("%w: expected a bulk string of at most %d bytes, found one of %d", ErrProtocol, maxBulk, n)
	}
	if whole := int(n) + len("\r\n"); whole <= r.Size() {
		return readShort(r, whole)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, n); err != nil {
		return "", unexpected(err)
	}
	var end [2]byte
	if _, err := io.ReadFull(r, end[:]); err != nil {
		return "", unexpected(err)
	}
	if end != [2]byte{'\r', '\n'} {
		return "", syntaxError("\\r\\n after a bulk string", end[:])
	}
	return b.String(), nil
}

// readShort is readBulk of a string that, with its CRLF, is that long and fits into the reader's buffer.
func readShort(r *bufio.Reader, whole int) (string, error) {
	part, err := r.Peek(whole)
	if err != nil {
		return "", unexpected(err)
	}
	text, end := part[:whole-2], part[whole-2:]
	if string(end) != "\r\n" {
		return "", syntaxError("\\r\\n after a bulk string", end)
	}
	s := string(text)
	_, _ = r.Discard(whole) // it is in the buffer
	return s, nil
}

// parseLength reads the number in "$12", "*3" and the like. Only $ and * may say
// -1, for null.
func parseLength(line []byte) (int64, error) {
	digits := line[1:]
	if string(digits) == "-1" && (line[0] == '$' || line[0] == '*') {
		return -1, nil
	}
	bad := len(digits) == 0 || len(digits) > 15 || len(digits) > 1 && digits[0] == '0'
	var n int64
	for _, d := range digits {
		bad = bad || d < '0' || d > '9'
		n = n*10 + int64(d-'0')
	}
	isBulk := line[0] == '$' || line[0] == '!' || line[0] == '='
	if bad || !isBulk && n > maxElements {
		return 0, syntaxError("a length", line)
	}
	return n, nil
}

func syntaxError(want string, found []byte) error {
	return fmt.Errorf("%w: expected %s, found %q", ErrProtocol, want, truncate(string(found[:min(len(found), 160)]), 40))
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
