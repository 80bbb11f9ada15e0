package histories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// ErrTruncated says that the last line of a file stops in its middle, as a killed
// process leaves it. Everything before that line is sound.
var ErrTruncated = errors.New("the last line is truncated, its writer was probably killed")

// errIncomplete says that a line could be the beginning of a JSON object.
var errIncomplete = errors.New("the JSON object is incomplete, want one per line")

// maxLine bounds the memory that one line of a foreign file can take.
const maxLine = 16 << 20

// WriteJSONL writes one line per event.
func WriteJSONL(w io.Writer, events []Event) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var line []byte
	for i := range events {
		e := &events[i]
		if e.Type > Fail {
			return fmt.Errorf("event %d: %w", e.Index, badType(e.Type.String()))
		}
		line = append(appendEvent(line[:0], e), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ReadJSONL reads a history. The name stands in errors, which say which line was
// not understood, what was expected there and how many events before it are sound.
// Those events are returned with the error. See ErrTruncated.
func ReadJSONL(r io.Reader, name string) ([]Event, error) {
	var events []Event
	err := Decode(r, name, func(e Event) error {
		events = append(events, e)
		return nil
	})
	return events, err
}

// Decode calls each with every event of a history, in order, and stops at its first
// error, which it returns as it is. Errors of the history are those of ReadJSONL.
//
// A field that Event does not have is an error: evidence that is skipped in
// silence could turn a fail into a pass. Blank lines are skipped.
func Decode(r io.Reader, name string, each func(Event) error) error {
	return decodeLines(r, name, "event", parseEvent, each)
}

// decodeLines parses one value per line. A last line without its newline counts if
// it is whole.
func decodeLines[T any](r io.Reader, name, unit string, parse func([]byte) (T, error), each func(T) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	sound := 0
	for no := 1; ; no++ {
		line, err := readLine(in, &buf)
		ended := err == nil
		if !ended && !errors.Is(err, io.EOF) {
			return lineError(name, no, fmt.Errorf("cannot read on: %w", err), sound, unit)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			v, err := parse(line)
			if errors.Is(err, errIncomplete) && !ended {
				err = ErrTruncated
			}
			if err != nil {
				return lineError(name, no, err, sound, unit)
			}
			if err := each(v); err != nil {
				return err
			}
			sound++
		}
		if !ended {
			return nil
		}
	}
}

// readLine returns the next line, valid until the next call. Its error is io.EOF
// if no newline ended the line.
func readLine(in *bufio.Reader, buf *[]byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	*buf = append((*buf)[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(*buf) > maxLine {
			return nil, fmt.Errorf("the line is longer than %d MiB, want one JSON object per line", maxLine>>20)
		}
		line, err = in.ReadSlice('\n')
		*buf = append(*buf, line...)
	}
	return *buf, err
}

func lineError(name string, line int, err error, sound int, unit string) error {
	if sound == 1 {
		return fmt.Errorf("%s:%d: %w; 1 %s before it is sound", name, line, err, unit)
	}
	return fmt.Errorf("%s:%d: %w; %d %ss before it are sound", name, line, err, sound, unit)
}

// strict unmarshals a line into v and explains what is wrong with it in the terms
// of the file. fields are the names it may have, for the message.
func strict(line []byte, v any, fields string) error {
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	err := in.Decode(v)
	if err == nil {
		if rest := bytes.TrimSpace(line[in.InputOffset():]); len(rest) > 0 {
			return fmt.Errorf("%q follows the JSON object, want one object per line", abbreviate(rest))
		}
		return nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncomplete
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("byte %d: %w, want one JSON object per line", syntax.Offset, err)
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return explain(mismatch)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %s, want %s", field, fields)
	}
	return err
}

func explain(err *json.UnmarshalTypeError) error {
	if err.Field == "" {
		return fmt.Errorf("found %s, want one JSON object per line", article(err.Value))
	}
	t := err.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	want := "an integer"
	switch {
	case t == reflect.TypeFor[Type]():
		want = wantType
	case t.Kind() == reflect.String:
		want = "a string"
	}
	return fmt.Errorf("%q is %s, want %s", err.Field, article(err.Value), want)
}

// article puts "a" or "an" before a JSON kind; "number 1.5" needs none.
func article(kind string) string {
	switch {
	case strings.Contains(kind, " "):
		return kind
	case kind == "array" || kind == "object":
		return "an " + kind
	}
	return "a " + kind
}

func abbreviate(b []byte) []byte {
	const most = 40
	if len(b) <= most {
		return b
	}
	return append(append([]byte(nil), b[:most]...), "…"...)
}

func missing(field string) error {
	return fmt.Errorf("%q is missing", field)
}
