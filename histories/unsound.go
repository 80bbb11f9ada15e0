package histories

import (
	"errors"

	"github.com/lockbench/lockbench/internal/packed"
)

// Unsound reports whether an error of reading a history tells that what is in the file is not sound,
// rather than that the file could not be read.
func Unsound(err error) bool {
	_, line := errors.AsType[*LineError](err)
	_, call := errors.AsType[*CallError](err)
	_, meta := errors.AsType[*MetaError](err)
	return meta || damaged(err) || errors.Is(err, packed.ErrUTF16) || (line || call) && !isInput(err)
}

// damaged reports whether err is of a compressed stream, of which what was read is as sound as what is
// before a torn line.
func damaged(err error) bool {
	_, ok := errors.AsType[*packed.DamageError](err)
	return ok
}

// An inputError is an error of the reader below, after which there is nothing to read.
type inputError struct{ err error }

func (e *inputError) Error() string { return "cannot read on: " + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

func isInput(err error) bool {
	_, input := errors.AsType[*inputError](err)
	return input
}

// Breach returns where the file first breaks the rules of Validate, as a *LineError whose cause is
// an *InvalidError. It returns nil if nowhere, or if the file cannot be read a second time.
func (f File) Breach(lenient bool) error {
	if f.Path == Stdin {
		return nil
	}
	v, line, n := newValidator(), 0, 0
	var breach error
	_, err := watchEvents(f.Path, lenient, source{at: func(l int) { line = l }}, func(_ int, e Event) error {
		v.add(&e)
		if len(v.found.errs) > 0 {
			breach = &LineError{f.Path, line, n, &InvalidError{First: v.found.first, violations: v.found.errs[0]}, "event"}
			return breach
		}
		n++
		return nil
	})
	if breach == nil || !errors.Is(err, breach) {
		return nil
	}
	return breach
}
