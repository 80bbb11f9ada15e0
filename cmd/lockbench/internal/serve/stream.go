package serve

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/lockbench/lockbench/histories"
)

// A stream gives the events of a history one by one.
type stream struct {
	pull func() (histories.Event, bool)
	stop func()
	err  error // why it ended early; nil at the end of the history
}

// open begins to read the history of a run. Close the stream.
func open(ctx context.Context, dir *os.Root) *stream {
	s := new(stream)
	s.pull, s.stop = iter.Pull(func(yield func(histories.Event) bool) {
		f, info, err := openFile(dir, histories.EventsFile)
		if err != nil {
			s.err = err
			return
		}
		defer func() { _ = f.Close() }() // read only: nothing can be lost
		n := 0
		s.err = (&histories.Decoder{Name: histories.EventsFile}).Decode(io.LimitReader(f, info.Size()), func(e histories.Event) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case n == mostCompared:
				return fmt.Errorf("only the first %d events were looked at", mostCompared)
			case !yield(e):
				return errEnough
			}
			n++
			return nil
		})
	})
	return s
}

// next returns the next event, or nil.
func (s *stream) next() *histories.Event {
	e, ok := s.pull()
	if !ok {
		return nil
	}
	return &e
}

func (s *stream) close() { s.stop() }
