package certificate

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
// once. Besides c it keeps no more than the calls that are open or have no known outcome, and of
// verdicts by calls the calls of the attempts that they name.
//
// The error is a *HistoryError, a *ForeignError or a *RejectedError, and nil if all of it holds.
func Verify(history io.Reader, c Certificate) error {
	v, err := newVerifier(c)
	if err != nil {
		return &RejectedError{err}
	}
	if err := v.read(history); err != nil {
		return &HistoryError{err}
	}
	found := v.subject()
	if found.SHA256 != c.History.SHA256 {
		return &ForeignError{c.History, found}
	}
	if v.failed == nil {
		v.failed = v.conclude()
	}
	if v.failed != nil {
		return &RejectedError{v.failed}
	}
	return nil
}

// A proof is what holds one verdict against the history as that is read. Both methods of events may
// keep none of their arguments.
type proof interface {
	// event takes every event, before answered takes the call that it ends.
	event(*histories.Event)
	answered(*call)
	// bounds returns, after the last event, the inequalities that prove the verdict.
	bounds() ([]Bound, error)
}

// verifier verifies a certificate while the history is read.
type verifier struct {
	c      Certificate
	in     *reading
	proofs []proof
	named  map[int]histories.Event // events that are named, by index
	replay *replay                 // of the explanations
	open   map[int]*call           // by process
	spare  []*call
	events int
	last   time.Duration
	failed error // the first thing that does not hold
}

func newVerifier(c Certificate) (*verifier, error) {
	v := &verifier{c: c, named: make(map[int]histories.Event), open: make(map[int]*call)}
	for i := range c.Proven {
		p, err := newProof(&c.Proven[i])
		if err == nil && slices.ContainsFunc(c.Proven[:i], func(v Verdict) bool { return v.Rule == c.Proven[i].Rule }) {
			err = errors.New("there is another verdict of this rule")
		}
		if err != nil {
			return nil, fmt.Errorf("verdict %d, %s: %w", i+1, c.Proven[i].Rule, err)
		}
		v.proofs = append(v.proofs, p)
		for _, n := range c.Proven[i].Events {
			v.named[n.Index] = histories.Event{Index: -1}
		}
	}
	var err error
	v.replay, err = newReplay(c)
	return v, err
}

// read reads the history to its end, also if something does not hold: whether it is the right one is
// known then.
func (v *verifier) read(history io.Reader) error {
	var offsets []int64
	for _, p := range v.c.Proven {
		for _, n := range p.Events {
			offsets = append(offsets, n.Offset)
		}
	}
	v.in = newReading(history, offsets)
	return histories.Decode(v.in, "the history", func(e histories.Event) error {
		switch {
		case e.Index != v.events:
			return fmt.Errorf("event %d has the index %d, want indexes that count from 0", v.events, e.Index)
		case e.Time < v.last:
			return fmt.Errorf("event %d has the time %d, before that of the event before it", e.Index, e.Time)
		}
		v.events, v.last = v.events+1, e.Time
		if v.failed == nil {
			v.failed = v.event(&e)
		}
		return nil
	})
}

func (v *verifier) event(e *histories.Event) error {
	if _, named := v.named[e.Index]; named {
		v.named[e.Index] = *e
	}
	for _, p := range v.proofs {
		p.event(e)
	}
	switch {
	case e.Process < 0 || e.Single():
		return nil
	case e.Type == histories.Invoke:
		if v.open[e.Process] != nil {
			return fmt.Errorf("event %d: process %d makes a call while another is open", e.Index, e.Process)
		}
		c := v.room()
		c.invoke = *e
		v.open[e.Process] = c
		return v.replay.invoked(e)
	}
	c := v.open[e.Process]
	if c == nil || c.invoke.F != e.F || c.invoke.Key != e.Key || c.invoke.Attempt != e.Attempt {
		return fmt.Errorf("event %d is the answer to no call of process %d", e.Index, e.Process)
	}
	c.answer = *e
	delete(v.open, e.Process)
	for _, p := range v.proofs {
		p.answered(c)
	}
	err := v.replay.answered(c)
	*c = call{}
	v.spare = append(v.spare, c)
	return err
}

func (v *verifier) room() *call {
	if last := len(v.spare) - 1; last >= 0 {
		c := v.spare[last]
		v.spare = v.spare[:last]
		return c
	}
	return new(call)
}

func (v *verifier) subject() Subject {
	return Subject{Bytes: v.in.bytes, SHA256: v.in.sum(), Events: v.events}
}

// conclude holds the whole certificate against what was read.
func (v *verifier) conclude() error {
	if found := v.subject(); found != v.c.History {
		return fmt.Errorf("it says that the history has %d bytes and %d events, found %d and %d",
			v.c.History.Bytes, v.c.History.Events, found.Bytes, found.Events)
	}
	if err := v.replay.end(); err != nil {
		return err
	}
	for i, p := range v.proofs {
		verdict := &v.c.Proven[i]
		if err := errors.Join(v.lines(verdict), v.holds(verdict, p)); err != nil {
			return fmt.Errorf("verdict %d, %s: %w", i+1, verdict.Rule, err)
		}
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

// holds says whether the inequalities of a verdict are what the history says, and hold.
func (v *verifier) holds(verdict *Verdict, p proof) error {
	want, err := p.bounds()
	if err != nil {
		return err
	}
	if !slices.Equal(want, verdict.Bounds) {
		return fmt.Errorf("its inequalities are not those of the history: found %v, want %v", verdict.Bounds, want)
	}
	for _, b := range want {
		if !b.holds() {
			return fmt.Errorf("%s is %d and %s is %d, want %s", b.Lower, b.Low, b.Upper, b.High, b.Than)
		}
	}
	return nil
}

// forever is the end of what has none.
const forever time.Duration = math.MaxInt64

// sure is the end of a lease that began at from or later, on a server whose clock runs fast by no more
// than 1 % of the TTL and 2 ms. A TTL of 0 or less is none.
func sure(from, ttl time.Duration) time.Duration {
	if ttl <= 0 {
		return forever
	}
	length := ttl - ttl/100 - 2*time.Millisecond
	if length > 0 && from > forever-length {
		return forever
	}
	return from + length
}

// Prove returns c with its History, and with the inequalities of its verdicts, as the history has them;
// where its events are is left alone. The errors are one for each verdict, nil if its inequalities hold.
func Prove(history io.Reader, c Certificate) (Certificate, []error, error) {
	v := &verifier{named: make(map[int]histories.Event), open: make(map[int]*call), replay: new(replay)}
	c.Proven = slices.Clone(c.Proven)
	proofs, errs := make([]proof, len(c.Proven)), make([]error, len(c.Proven))
	for i := range c.Proven {
		if proofs[i], errs[i] = newProof(&c.Proven[i]); errs[i] == nil {
			v.proofs = append(v.proofs, proofs[i])
		}
	}
	if err := v.read(history); err != nil {
		return c, nil, &HistoryError{err}
	}
	if v.failed != nil {
		return c, nil, &HistoryError{v.failed}
	}
	c.History = v.subject()
	for i, p := range proofs {
		if p == nil {
			continue
		}
		bounds, err := p.bounds()
		c.Proven[i].Bounds = bounds
		if err == nil {
			err = v.holds(&c.Proven[i], p)
		}
		errs[i] = err
	}
	return c, errs, nil
}
