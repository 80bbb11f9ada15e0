package certificate

import (
	"errors"
	"fmt"
	"io"
	"reflect"
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

// A ForeignCommandsError says that a certificate is of other commands.
type ForeignCommandsError struct{ Want, Found Commands }

func (e *ForeignCommandsError) Error() string {
	return fmt.Sprintf("the certificate is of other commands: they are %d bytes with the SHA-256 %q, found %d bytes with %s",
		e.Want.Bytes, e.Want.SHA256, e.Found.Bytes, e.Found.SHA256)
}

// A CommandsError says why the commands that a certificate is of cannot be read.
type CommandsError struct{ Err error }

func (e *CommandsError) Error() string { return "no commands: " + e.Err.Error() }
func (e *CommandsError) Unwrap() error { return e.Err }

// A HistoryError says why a history cannot be read.
type HistoryError struct{ Err error }

func (e *HistoryError) Error() string { return "no history: " + e.Err.Error() }
func (e *HistoryError) Unwrap() error { return e.Err }

// Verify reports whether c proves what it claims of a history, in lockbench's JSONL. It reads the history
// once, and keeps its calls; and commands, if c is of them.
//
// The error is a *HistoryError, a *CommandsError, a *ForeignError, a *ForeignCommandsError or a *RejectedError,
// and nil if all of it holds.
func Verify(history, commands io.Reader, c Certificate) error {
	v := &verifier{tables: newTables(c.Terms), named: make(map[int]histories.Event)}
	var offsets, sent []int64
	for _, p := range c.Proven {
		if err := p.wellFormed(); err != nil {
			return &RejectedError{fmt.Errorf("%s: %w", p.Rule, err)}
		}
		if p.Proof == ByCommands && c.Commands == nil {
			return &RejectedError{fmt.Errorf("%s: it is proven by commands, and the certificate is of none", p.Rule)}
		}
		for _, n := range p.Commands {
			sent = append(sent, n.Offset)
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
	if c.Commands != nil {
		if err := v.hear(commands, sent, *c.Commands); err != nil {
			return err
		}
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
	err := (&histories.Decoder{Name: "the history"}).Decode(v.in, func(e histories.Event) error {
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
		v.times = append(roomier(v.times), e.Time)
		if v.broken == nil { // else events are counted alone
			v.broken = v.event(&e)
		}
		return nil
	})
	if err == nil && v.broken == nil {
		v.end()
	}
	return err
}

// hear reads the commands that a certificate is of.
func (v *verifier) hear(commands io.Reader, offsets []int64, want Commands) error {
	if commands == nil {
		return &CommandsError{errors.New("the certificate is of commands, too, and there are none")}
	}
	found, err := v.listen(commands, offsets)
	switch {
	case found.SHA256 != want.SHA256:
		return &ForeignCommandsError{want, found}
	case err != nil:
		return &CommandsError{err}
	case found != want:
		return &RejectedError{fmt.Errorf("it says that there are %d bytes and %d commands, found %d and %d", want.Bytes, want.Lines, found.Bytes, found.Lines)}
	}
	return nil
}

// listen reads commands to their end.
func (v *verifier) listen(commands io.Reader, offsets []int64) (Commands, error) {
	in := newReading(commands, offsets)
	var err error
	v.wire, err = newWire(v.tables, in)
	return Commands{Bytes: in.bytes, SHA256: in.sum(), Lines: len(v.wire.all)}, err
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

// verdict returns why the i-th verdict is not proven.
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
	for _, n := range verdict.Commands {
		line, err := v.wire.in.lineAt(n)
		if err != nil {
			return err
		}
		read, err := histories.ReadExchanges(newLine(line), "line")
		if err != nil || len(read) != 1 || n.Index < 0 || n.Index >= len(v.wire.all) || !reflect.DeepEqual(read[0], v.wire.all[n.Index]) {
			return fmt.Errorf("the line at byte %d is not command %d (%s)", n.Offset, n.Index, n.Role)
		}
	}
	return nil
}

// search looks for what a verdict says that there is, or is not.
func (v *Verdict) search() search {
	if v.Proof == ByCommands {
		return witnessed()[v.Rule]
	}
	return searches()[v.Rule]
}

// holds returns why a verdict does not follow from the history.
func (v *verifier) holds(verdict *Verdict) error {
	if verdict.Proof == ByExplanation {
		return nil // which was replayed
	}
	if verdict.Verdict == Pass {
		var first *finding
		verdict.search()(v.tables, func(f finding) {
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
	verdict.search()(v.tables, func(f finding) {
		n += b2i(f.certain)
		same = same || f.certain && f.is(verdict)
	})
	if !same {
		return fmt.Errorf("it is none of the %d violations of the history", n)
	}
	return nil
}
