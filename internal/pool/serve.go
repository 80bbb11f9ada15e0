// Package pool plays the programs of an exploration in processes of their own: each run has a processor to itself, and a lock that
// cannot be stopped ends with its process.
package pool

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/locks"
)

// request is a program that is to be played with the lock of that name.
type request struct {
	Lock    string
	Program explore.Program
}

// reply is what came of a request.
type reply struct {
	Outcome explore.Outcome
	Err     string // why it could not be played; empty: it was
	Unfit   bool   // lock and program do not go together
}

// Serve plays what is asked for on in, with locks of all and on servers in virtual time, and answers on out. It ends with in.
func Serve(ctx context.Context, in io.Reader, out io.Writer, all locks.Catalogue) error {
	backend := harness.Embedded()
	asked, answers := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var q request
		if err := asked.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("what was to be played cannot be read: %w", err)
		}
		var a reply
		lock, err := all.Find(q.Lock)
		if err == nil {
			a.Outcome, err = explore.Run(ctx, q.Program, lock, backend)
		}
		if err != nil {
			a.Err, a.Unfit = err.Error(), harness.NotApplicable(err)
		}
		if err := answers.Encode(a); err != nil {
			return fmt.Errorf("the outcome cannot be told: %w", err)
		}
	}
}
