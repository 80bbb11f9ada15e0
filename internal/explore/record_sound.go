package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/checker"
)

// lineOf adds to an error of decoding the line at which it was met. Offsets of the decoder are those after what was met.
func lineOf(data []byte, err error) error {
	at := int64(-1)
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typ):
		at = typ.Offset
	}
	if at < 0 || at > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:max(at-1, 0)], []byte("\n")), err)
}

// mostCounted is how much a record may count: more than anybody plays, and less than overflows when records are joined.
const mostCounted = 1 << 40

// sound returns what in a record cannot have been written by an exploration. What is taken over from such a record would be wrong, and a search that says
// that all is done that was never meant would pass.
func (r Record) sound() error {
	for _, of := range []struct {
		name string
		n    int
	}{
		{"depth", r.Depth}, {"samples", r.Samples}, {"shards", r.Shards}, {"runs", r.Runs}, {"measures", r.Measures}, {"missed", r.Missed}, {"unmeasured", r.Unmeasured},
		{"twice", r.Twice}, {"drawn.n", r.Drawn.N}, {"drawn.once", r.Drawn.Once}, {"points.sent", r.Points.Sent}, {"points", r.Points.Met()},
	} {
		if of.n < 0 || of.n > mostCounted {
			return fmt.Errorf("its %s are %d, want a number from 0 to %d", of.name, of.n, mostCounted)
		}
	}
	switch {
	case r.Schedules > mostCounted:
		return fmt.Errorf("its schedules are %d, want a number up to %d", r.Schedules, mostCounted)
	case r.Drawn.Once > r.Drawn.N || r.Drawn.N > r.Samples:
		return fmt.Errorf("it has %d of %d schedules that were drawn, of which %d came to what no other came to: want no more than there are", r.Drawn.N, r.Samples, r.Drawn.Once)
	}
	for i, name := range r.Programs {
		if slices.Contains(r.Programs[:i], name) {
			return fmt.Errorf("it names program %q twice", name)
		}
	}
	for i, name := range r.Done {
		if !slices.Contains(r.Programs, name) || slices.Contains(r.Done[:i], name) {
			return fmt.Errorf("it says that program %q was explored whole: want each of those that were meant once at most, %q", name, r.Programs)
		}
	}
	for i, w := range r.Weaknesses {
		if !slices.Contains(checker.Properties(), w.Property) {
			return fmt.Errorf("weakness %d is of a property %q that there is not", i+1, w.Property)
		}
	}
	for i, t := range r.Tried {
		if slices.ContainsFunc(r.Tried[:i], func(o Tried) bool { return o.Column == t.Column }) {
			return fmt.Errorf("it says twice what was tried of %q", t.Column)
		}
		if err := t.sound(); err != nil {
			return fmt.Errorf("of what was tried, %q: %w", t.Column, err)
		}
	}
	for i, k := range r.Findings {
		if err := k.sound(); err != nil {
			return fmt.Errorf("finding %d: %w", i+1, err)
		}
	}
	return nil
}

// mostDeviations is how many a schedule has at most.
const mostDeviations = 3

func (k Kept) sound() error {
	switch {
	case len(k.Broken) == 0:
		return errors.New("it breaks nothing: want a property at least")
	case len(k.Deviations) > mostDeviations:
		return fmt.Errorf("it has %d deviations, want %d at most", len(k.Deviations), mostDeviations)
	case k.Seen < 0 || k.Seen > mostCounted:
		return fmt.Errorf("it was seen %d times, want a number from 0 on", k.Seen)
	}
	for _, p := range k.Broken {
		if !slices.Contains(checker.Properties(), p) {
			return fmt.Errorf("it breaks a property %q that there is not", p)
		}
	}
	for _, d := range k.Deviations {
		if d.Client == "" || d.Command == "" || d.Call < 0 || d.Nth < 1 || d.Since < 0 || d.Since >= d.Nth {
			return fmt.Errorf("its deviation %+v is at no command: want a client, the name of a command, and which it is, from 1 on", d)
		}
	}
	return nil
}
