package histories

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A csvReader reads calls, one per row under a heading that names their fields.
type csvReader struct {
	limited shortLines
	in      *csv.Reader
	columns map[string]int
	line    int // of the last row
	calls   callReader
}

func decodeCSV(r io.Reader, told *lineDecoder, each func(Event) error) error {
	told.unit = "call"
	c := &csvReader{limited: shortLines{r: r}, columns: make(map[string]int), calls: callReader{told: told}}
	c.in = csv.NewReader(&c.limited)
	c.in.ReuseRecord, c.in.TrimLeadingSpace = true, true
	if err := c.heading(); err != nil {
		return err
	}
	for {
		err := c.row()
		if errors.Is(err, io.EOF) {
			return c.calls.events(each)
		}
		if err != nil {
			return err
		}
	}
}

// heading reads which column is of which field.
func (c *csvReader) heading() error {
	heading, err := c.read()
	switch {
	case errors.Is(err, io.EOF):
		return &CallError{c.calls.told.name, 1, 1, errors.New("the file is empty, want a heading: " + strings.Join(callFields(), ","))}
	case err != nil:
		return c.broken(err)
	}
	for i, field := range heading {
		field = strings.ToLower(strings.TrimSpace(field))
		if _, twice := c.columns[field]; twice || !slices.Contains(callFields(), field) {
			return c.fail(i, fmt.Errorf("the heading has %q, want each of %s once", abbreviate([]byte(field)), strings.Join(callFields(), ",")))
		}
		c.columns[field] = i
	}
	for _, field := range callFields()[:wantedFields] {
		if _, known := c.columns[field]; !known {
			return c.fail(0, fmt.Errorf("the heading lacks %q, want %s, and optionally ttl and token", field, strings.Join(callFields()[:wantedFields], ",")))
		}
	}
	return nil
}

// row reads one call, and returns io.EOF behind the last one.
func (c *csvReader) row() error {
	row, err := c.read()
	switch {
	case errors.Is(err, io.EOF):
		return err
	case damaged(err) && c.calls.told.skip != nil:
		if err := c.calls.bad(c.line+1, 1, err); err != nil {
			return err
		}
		return io.EOF
	case err != nil:
		return c.broken(err)
	}
	c.line, _ = c.in.FieldPos(0)
	err = c.calls.add(c.line, func(field string) string {
		if i, known := c.columns[field]; known {
			return strings.TrimSpace(row[i])
		}
		return ""
	})
	if bad, ok := errors.AsType[*fieldError](err); ok {
		line, column := c.in.FieldPos(c.columns[bad.field])
		return c.calls.bad(line, column, err)
	}
	if err != nil {
		return c.fail(0, err)
	}
	return nil
}

func (c *csvReader) read() ([]string, error) {
	c.limited.left = maxLine
	return c.in.Read()
}

// broken is what becomes of a row that cannot be read.
func (c *csvReader) broken(err error) error {
	bad, parsed := errors.AsType[*csv.ParseError](err)
	switch {
	case !parsed || errors.Is(err, errLongRow) || isInput(err):
		return &CallError{c.calls.told.name, c.line + 1, 1, err}
	case c.line == 0: // of the heading
		return &CallError{c.calls.told.name, bad.Line, bad.Column, bad.Err}
	}
	c.line = bad.Line
	return c.calls.bad(bad.Line, bad.Column, bad.Err)
}

// fail is an error at a field, after which nothing is read.
func (c *csvReader) fail(field int, err error) error {
	line, column := c.in.FieldPos(field)
	return &CallError{c.calls.told.name, line, column, err}
}

// shortLines is a reader that fails where a row is longer than what is left of maxLine.
type shortLines struct {
	r    io.Reader
	left int
}

func (s *shortLines) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, errLongRow
	}
	n, err := s.r.Read(p)
	s.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		err = &inputError{err}
	}
	return n, err
}
