package histories

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// decodeCalls reads calls as JSON: an array of objects, or one after another.
func decodeCalls(r io.Reader, told *lineDecoder, each func(Event) error) error {
	told.unit = "call"
	calls := callReader{told: told}
	in := newObjectReader(r)
	for {
		o, err := in.next()
		if errors.Is(err, io.EOF) {
			return calls.events(each)
		}
		if err == nil {
			err = calls.object(o)
		}
		bad, ok := errors.AsType[*objectError](err)
		switch {
		case err == nil:
			continue
		case !ok:
			return err
		}
		if err := calls.bad(bad.line, bad.column, bad.err); err != nil {
			return err
		}
		if isInput(bad.err) {
			return calls.events(each) // of what is before the damage
		}
	}
}

// object adds the call of an object. Its errors are *objectErrors.
func (c *callReader) object(o object) error {
	in := json.NewDecoder(bytes.NewReader(o.text))
	in.UseNumber()
	fields, where, err := callObject(in)
	if err != nil {
		offset := in.InputOffset()
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = syntax.Offset
		}
		return o.at(offset, err)
	}
	err = c.add(o.line, func(field string) string { return fields[field] })
	if errors.Is(err, errTooManyCalls) {
		return &CallError{c.told.name, o.line, o.column, err}
	}
	if err == nil {
		return nil
	}
	offset := int64(0)
	if bad, ok := errors.AsType[*fieldError](err); ok {
		offset = where[bad.field] // 0 if it is not there
	}
	return o.at(offset, err)
}

// callObject reads the fields of an object, and where the name of each ends.
func callObject(in *json.Decoder) (map[string]string, map[string]int64, error) {
	if _, err := in.Token(); err != nil { // the brace
		return nil, nil, err
	}
	object, where := make(map[string]string), make(map[string]int64)
	for {
		token, err := in.Token()
		if err != nil {
			return nil, nil, err
		}
		if token == json.Delim('}') {
			break
		}
		field, _ := token.(string)
		if _, twice := object[field]; twice || !slices.Contains(callFields(), field) {
			return nil, nil, fmt.Errorf("the call has %q, want each of %s once", abbreviate([]byte(field)), strings.Join(callFields(), ", "))
		}
		where[field] = in.InputOffset()
		if token, err = in.Token(); err != nil {
			return nil, nil, err
		}
		switch value := token.(type) {
		case string:
			object[field] = value
		case json.Number:
			object[field] = value.String()
		case nil:
			object[field] = ""
		default:
			return nil, nil, fmt.Errorf("%q is %v, want a string or a number", field, value)
		}
	}
	for _, field := range callFields()[:wantedFields] {
		if _, known := object[field]; !known && field != "to" {
			return nil, nil, fmt.Errorf("the call lacks %q, want %s, and optionally ttl and token", field, strings.Join(callFields()[:wantedFields], ", "))
		}
	}
	return object, where, nil
}
