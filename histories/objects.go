package histories

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An object is the text of a JSON object, and where it begins.
type object struct {
	text         []byte // valid until the next one is read
	line, column int    // from 1
}

// An objectError says where something is wrong with an object, or between objects.
type objectError struct {
	line, column int
	err          error
}

func (e *objectError) Error() string { return fmt.Sprintf("%d:%d: %v", e.line, e.column, e.err) }
func (e *objectError) Unwrap() error { return e.err }

// at is an error at an offset in the object.
func (o object) at(offset int64, err error) error {
	before := o.text[:min(max(int(offset), 0), len(o.text))]
	line, column := o.line+bytes.Count(before, []byte{'\n'}), o.column+len(before)
	if last := bytes.LastIndexByte(before, '\n'); last >= 0 {
		column = len(before) - last
	}
	return &objectError{line, column, err}
}

var (
	errTornObject  = errors.New("the JSON ends within this object, its writer was probably killed")
	errTornText    = errors.New("the line ends within a text of this object, its writer was probably killed")
	errInnerObject = errors.New("an object begins within this one, want one with strings and numbers; its writer was probably killed")
	errTornArray   = errors.New("the JSON ends within the array, its writer was probably killed")
)

// An objectReader cuts JSON into its objects: those of one array, or one after another. They hold
// no others. After an *objectError other than of its input it can go on: one that is torn ends
// where its line ends within a text, or where another object begins.
type objectReader struct {
	in           *bufio.Reader
	line, column int // of the byte that is read next
	buf          []byte
	begun        bool // something was read
	array        bool // and has not been closed
	closed       bool
	item         bool // of the array is due: it begins, or a comma was read
	lost         bool // the line, or what is before the next object, is no JSON
}

func newObjectReader(r io.Reader) *objectReader {
	return &objectReader{in: bufio.NewReaderSize(r, 64<<10), line: 1, column: 1}
}

// read returns the next byte. Its errors are io.EOF, and an *objectError of the input.
func (r *objectReader) read() (byte, error) {
	c, err := r.in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return 0, io.EOF
	case err != nil:
		return 0, &objectError{r.line, r.column, &inputError{err}}
	}
	r.column++
	if c == '\n' {
		r.line, r.column = r.line+1, 1
	}
	return c, nil
}

// unread takes the byte back that was just read, which is no newline.
func (r *objectReader) unread() {
	_ = r.in.UnreadByte() // it fails only if nothing was read
	r.column--
}

// next returns the next object, or io.EOF.
func (r *objectReader) next() (object, error) {
	if r.lost {
		if err := r.find(); err != nil {
			return object{}, err
		}
	}
	for {
		c, err := r.read()
		switch {
		case errors.Is(err, io.EOF) && r.array:
			r.array = false
			return object{}, &objectError{r.line, r.column, errTornArray}
		case err != nil:
			return object{}, err
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		}
		fits := !r.array && !r.closed || r.array && r.item
		switch {
		case c == '[' && !r.begun:
			r.array, r.item = true, true
		case c == ']' && r.array:
			r.array, r.closed = false, true
		case c == ',' && r.array && !r.item:
			r.item = true
		case c == '{' && fits:
			r.begun, r.item = true, false
			return r.object()
		default:
			return object{}, r.unexpected(c)
		}
		r.begun = true
	}
}

// unexpected is the error of a byte that does not fit.
func (r *objectReader) unexpected(c byte) error {
	bad := &objectError{r.line, r.column - 1, fmt.Errorf("found %q, want an object with %s", rune(c), strings.Join(callFields(), ", "))}
	if r.closed {
		bad.err = errors.New("something follows the array, want one array of objects")
	}
	if c == '{' && r.array { // what is between is missing
		r.unread()
		r.item = true
		return bad
	}
	r.begun, r.lost = true, true
	return bad
}

// find goes on behind the line, or at the next object.
func (r *objectReader) find() error {
	r.lost = false
	for {
		c, err := r.read()
		switch {
		case errors.Is(err, io.EOF) || err == nil && c == '\n':
			return nil
		case err != nil:
			return err
		case c == '{' && !r.closed:
			r.unread()
			r.item = true
			return nil
		}
	}
}

// object reads an object behind its brace.
func (r *objectReader) object() (object, error) {
	o := object{line: r.line, column: r.column - 1}
	torn := func(err error) (object, error) {
		r.item = true
		return object{}, &objectError{o.line, o.column, err}
	}
	r.buf = append(r.buf[:0], '{')
	text, escaped := false, false
	for {
		c, err := r.read()
		switch {
		case errors.Is(err, io.EOF):
			r.array = false
			return torn(errTornObject)
		case err != nil:
			return object{}, err
		case text && c == '\n':
			return torn(errTornText)
		case !text && c == '{':
			r.unread()
			return torn(errInnerObject)
		case len(r.buf) == maxLine:
			r.lost = true
			return torn(errLongRow)
		}
		r.buf = append(r.buf, c)
		switch {
		case escaped:
			escaped = false
		case text && c == '\\':
			escaped = true
		case c == '"':
			text = !text
		case c == '}' && !text:
			o.text = r.buf
			return o, nil
		}
	}
}
