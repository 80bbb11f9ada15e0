package certificate

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A RejectedError says what does not hold of what a certificate claims.
type RejectedError struct{ Err error }

func (e *RejectedError) Error() string { return "the certificate is rejected: " + e.Err.Error() }
func (e *RejectedError) Unwrap() error { return e.Err }

// A ForeignError says that a certificate is of another history.
type ForeignError struct{ Want, Found Subject }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the certificate is of another history: it is of one of %d bytes with the SHA-256 %q, found %d bytes with %s",
		e.Want.Bytes, e.Want.SHA256, e.Found.Bytes, e.Found.SHA256)
}

// A HistoryError says why a history cannot be read.
type HistoryError struct{ Err error }

func (e *HistoryError) Error() string { return "no history: " + e.Err.Error() }
func (e *HistoryError) Unwrap() error { return e.Err }

// Verify says whether c proves what it claims of a history, in lockbench's JSONL. It reads the history
// once, and keeps its calls.
//
// The error is a *HistoryError, a *ForeignError or a *RejectedError, and nil if all of it holds.
func Verify(history io.Reader, c Certificate) error {
	v := &verifier{tables: newTables(c.Terms), named: make(map[int]histories.Event)}
	var offsets []int64
	for _, p := range c.Proven {
		if err := p.wellFormed(); err != nil {
			return &RejectedError{fmt.Errorf("%s: %w", p.Rule, err)}
		}
		for _, n := range p.Events {
			v.named[n.Index] = histories.Event{Index: -1}
			offsets = append(offsets, n.Offset)
		}
	}
	err := v.read(history, offsets)
	found := v.subject()
	switch {
	case err != nil:
		return &HistoryError{err}
	case found.SHA256 != c.History.SHA256:
		return &ForeignError{c.History, found}
	}
	if err := v.conclude(&c); err != nil {
		return &RejectedError{err}
	}
	return nil
}

// verifier reads a history into tables.
type verifier struct {
	*tables
	in     *reading
	named  map[int]histories.Event // events that are named, by index
	broken error                   // how the history breaks the rules of histories
}

// read reads the history to its end, also if it is broken: whether it is the right one is known then.
func (v *verifier) read(history io.Reader, offsets []int64) error {
	v.in = newReading(history, offsets)
	var last time.Duration
	err := histories.Decode(v.in, "the history", func(e histories.Event) error {
		if _, named := v.named[e.Index]; named {
			v.named[e.Index] = e
		}
		switch {
		case e.Index != len(v.times):
			return fmt.Errorf("event %d has the index %d, want indexes that count from 0", len(v.times), e.Index)
		case e.Time < last:
			return fmt.Errorf("event %d has the time %d, before that of the event before it", e.Index, e.Time)
		}
		last = e.Time
		if v.broken == nil {
			v.broken = v.paired(&e)
		}
		if v.broken != nil {
			v.times = append(v.times, e.Time) // to count events
			return nil
		}
		v.event(&e)
		return nil
	})
	if err == nil && v.broken == nil {
		v.end()
	}
	return err
}

// paired says why an event is none that may come next.
func (v *verifier) paired(e *histories.Event) error {
	if e.Process < 0 || e.Single() {
		return nil
	}
	o := v.open[e.Process]
	switch {
	case e.Type == histories.Invoke && o != nil:
		return fmt.Errorf("event %d: process %d makes a call while another is open", e.Index, e.Process)
	case e.Type != histories.Invoke && (o == nil || o.F != e.F || o.key.key != e.Key || o.Attempt != e.Attempt):
		return fmt.Errorf("event %d is the answer to no call of process %d", e.Index, e.Process)
	}
	return nil
}

func (v *verifier) subject() Subject {
	return Subject{Bytes: v.in.bytes, SHA256: v.in.sum(), Events: len(v.times)}
}

// conclude holds the whole certificate against what was read.
func (v *verifier) conclude(c *Certificate) error {
	if v.broken != nil {
		return v.broken
	}
	if found := v.subject(); found != c.History {
		return fmt.Errorf("it says that the history has %d bytes and %d events, found %d and %d",
			c.History.Bytes, c.History.Events, found.Bytes, found.Events)
	}
	errs := make([]error, 1+len(c.Proven))
	var all sync.WaitGroup // nothing changes what was read
	all.Go(func() { errs[0] = explained(v.tables, c) })
	for i := range c.Proven {
		all.Go(func() { errs[1+i] = v.verdict(c, i) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// verdict says why the i-th verdict is not proven.
func (v *verifier) verdict(c *Certificate, i int) error {
	verdict := &c.Proven[i]
	if slices.ContainsFunc(c.Proven[:i], func(v Verdict) bool { return v.Rule == verdict.Rule }) {
		return fmt.Errorf("there are two verdicts of %s", verdict.Rule)
	}
	if err := errors.Join(v.lines(verdict), v.holds(verdict)); err != nil {
		return fmt.Errorf("verdict %d, %s: %w", i+1, verdict.Rule, err)
	}
	return nil
}

// lines holds the events that a verdict names against the bytes of the history.
func (v *verifier) lines(verdict *Verdict) error {
	for _, n := range verdict.Events {
		line, err := v.in.lineAt(n)
		if err != nil {
			return err
		}
		read, err := histories.ReadJSONL(newLine(line), "line")
		if err != nil || len(read) != 1 || read[0] != v.named[n.Index] {
			return fmt.Errorf("the line at byte %d is not event %d (%s)", n.Offset, n.Index, n.Role)
		}
	}
	return nil
}

// holds says why a verdict does not follow from the history.
func (v *verifier) holds(verdict *Verdict) error {
	if verdict.Proof == ByExplanation {
		return nil // which was replayed
	}
	if verdict.Verdict == Pass {
		var first *finding
		searches()[verdict.Rule](v.tables, func(f finding) {
			if first == nil {
				first = &f
			}
		})
		if first != nil {
			return first.against()
		}
		return nil
	}
	n, same := 0, false
	searches()[verdict.Rule](v.tables, func(f finding) {
		n += b2i(f.certain)
		same = same || f.certain && f.is(verdict)
	})
	if !same {
		return fmt.Errorf("it is none of the %d violations of the history", n)
	}
	return nil
}
