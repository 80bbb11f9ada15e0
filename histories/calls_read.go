package histories

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// decodeCSV reads calls, one per row under a heading that names their fields.
func decodeCSV(r io.Reader, name string, each func(Event) error) error {
	limited := &shortLines{r: r}
	limited.begin()
	in := csv.NewReader(limited)
	in.ReuseRecord, in.TrimLeadingSpace = true, true
	fail := func(err error, field int) error {
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return &CallError{name, bad.Line, bad.Column, bad.Err}
		}
		line, column := in.FieldPos(field)
		return &CallError{name, line, column, err}
	}
	heading, err := in.Read()
	switch {
	case errors.Is(err, io.EOF):
		return &CallError{name, 1, 1, errors.New("the file is empty, want a heading: " + strings.Join(callFields(), ","))}
	case err != nil:
		return rowError(err, name, 1, fail)
	}
	columns := make(map[string]int)
	for i, field := range heading {
		field = strings.ToLower(strings.TrimSpace(field))
		if _, twice := columns[field]; twice || !slices.Contains(callFields(), field) {
			return fail(fmt.Errorf("the heading has %q, want each of %s once", abbreviate([]byte(field)), strings.Join(callFields(), ",")), i)
		}
		columns[field] = i
	}
	for _, field := range callFields()[:wantedFields] {
		if _, known := columns[field]; !known {
			return fail(fmt.Errorf("the heading lacks %q, want %s, and optionally ttl and token", field, strings.Join(callFields()[:wantedFields], ",")), 0)
		}
	}
	var calls callReader
	line := 1
	for {
		limited.begin()
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return calls.events(name, each)
		}
		if err != nil {
			return rowError(err, name, line+1, fail)
		}
		line, _ = in.FieldPos(0)
		err = calls.add(line, func(field string) string {
			if i, known := columns[field]; known {
				return strings.TrimSpace(row[i])
			}
			return ""
		})
		if bad, ok := errors.AsType[*fieldError](err); ok {
			return fail(err, columns[bad.field])
		}
		if err != nil {
			return fail(err, 0)
		}
	}
}

// rowError is the error of a reader: of the file below, or of what is in it.
func rowError(err error, name string, line int, fail func(error, int) error) error {
	if _, parsed := errors.AsType[*csv.ParseError](err); parsed && !errors.Is(err, errLongRow) {
		return fail(err, 0)
	}
	return &CallError{name, line, 1, err}
}

// decodeCalls reads calls as JSON: an array of objects, or one after another.
func decodeCalls(r io.Reader, name string, each func(Event) error) error {
	limited := &shortLines{r: r}
	limited.begin()
	at := &lineIndex{r: limited, line: 1}
	in := json.NewDecoder(at)
	in.UseNumber()
	var calls callReader
	err := eachObject(in, limited, func() error {
		at.forget(in.InputOffset())
		object, where, err := callObject(in)
		if err != nil {
			return err
		}
		line, _ := at.position(in.InputOffset())
		err = calls.add(line, func(field string) string { return object[field] })
		if bad, ok := errors.AsType[*fieldError](err); ok && where[bad.field] > 0 {
			line, column := at.position(where[bad.field])
			return &CallError{name, line, column, err}
		}
		return err
	})
	if _, told := errors.AsType[*CallError](err); err != nil && !told {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the JSON ends within a value, its writer was probably killed")
		}
		offset := in.InputOffset()
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = syntax.Offset
		}
		line, column := at.position(offset)
		return &CallError{name, line, column, err}
	}
	if err != nil {
		return err
	}
	return calls.events(name, each)
}

// eachObject calls read where an object begins, whose brace was read.
func eachObject(in *json.Decoder, limited *shortLines, read func() error) error {
	array, first := false, true
	for {
		limited.begin()
		token, err := in.Token()
		switch {
		case errors.Is(err, io.EOF) && !array:
			return nil
		case err != nil:
			return err
		case token == json.Delim('[') && first:
			array = true
		case token == json.Delim(']') && array:
			if _, err := in.Token(); !errors.Is(err, io.EOF) {
				return errors.New("something follows the array, want one array of objects")
			}
			return nil
		case token == json.Delim('{'):
			if err := read(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("found %s, want an object with %s", abbreviate(fmt.Append(nil, token)), strings.Join(callFields(), ", "))
		}
		first = false
	}
}

// callObject reads the fields of an object, and where the name of each ends.
func callObject(in *json.Decoder) (map[string]string, map[string]int64, error) {
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

// A lineIndex tells lines and columns of what was read through it.
type lineIndex struct {
	r        io.Reader
	read     int64
	line     int     // in which base is
	base     int64   // where that line begins
	newlines []int64 // behind base
}

func (x *lineIndex) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			x.newlines = append(x.newlines, x.read+int64(i))
		}
	}
	x.read += int64(n)
	return n, err
}

// forget says that nothing before an offset will be asked for.
func (x *lineIndex) forget(offset int64) {
	for len(x.newlines) > 0 && x.newlines[0] < offset {
		x.base, x.line, x.newlines = x.newlines[0]+1, x.line+1, x.newlines[1:]
	}
}

// position is the line and column of what begins at an offset, both from 1.
func (x *lineIndex) position(offset int64) (line, column int) {
	line, base := x.line, x.base
	for _, at := range x.newlines {
		if at >= offset {
			break
		}
		line, base = line+1, at+1
	}
	return line, int(max(offset-base, 0)) + 1
}
