package histories

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// ErrTruncated says that the last line of a file stops in its middle, as a killed
// process leaves it. Everything before that line is sound.
var ErrTruncated = errors.New("the last line is truncated, its writer was probably killed")

// errIncomplete says that a line could be the beginning of a JSON object.
var errIncomplete = errors.New("the JSON object is incomplete, want one per line")

// WriteJSONL writes one line per event.
func WriteJSONL(w io.Writer, events []Event) error { return writeAll(w, JSONL, events) }

// ReadJSONL reads a history. The name stands in errors, which say which line was
// not understood, what was expected there and how many events before it are sound.
// Those events are returned with the error. See ErrTruncated.
func ReadJSONL(r io.Reader, name string) ([]Event, error) {
	return (&Decoder{Name: name, Format: JSONL}).all(r)
}

// A LineError says which line of a file was not understood, and why.
type LineError struct {
	File  string
	Line  int
	Sound int // events, or exchanges, before it
	Err   error
	unit  string
}

func (e *LineError) Error() string {
	if e.Sound == 1 {
		return fmt.Sprintf("%s:%d: %v; 1 %s before it is sound", e.File, e.Line, e.Err, e.unit)
	}
	return fmt.Sprintf("%s:%d: %v; %d %ss before it are sound", e.File, e.Line, e.Err, e.Sound, e.unit)
}

func (e *LineError) Unwrap() error { return e.Err }

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
		return eachOnce(line)
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

// eachOnce reports whether no field of an object stands there twice, of which encoding/json would
// keep the last.
func eachOnce(line []byte) error {
	in := json.NewDecoder(bytes.NewReader(line))
	if brace, err := in.Token(); err != nil || brace != json.Delim('{') {
		return nil // the line is sound
	}
	var seen []string
	for in.More() {
		token, err := in.Token()
		name, isText := token.(string)
		if err != nil || !isText {
			return err
		}
		if slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, name) }) {
			return fmt.Errorf("%q stands there twice", name)
		}
		seen = append(seen, name)
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return err
		}
	}
	return nil
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
