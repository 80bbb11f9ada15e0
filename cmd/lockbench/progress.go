package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// newProgress tells on stderr how far work is. A terminal that cannot rewrite a line is told
// as a file is.
func newProgress(stderr io.Writer) *progress.Teller {
	began := time.Now()
	t := &progress.Teller{W: unlessTerse(stderr), Now: func() time.Duration { return time.Since(began) }}
	if f := fileOf(stderr); f != nil && volumeOf(stderr) != report.Terse && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())) {
		t.Columns = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	t.Begin()
	return t
}

// ticking calls tell again and again until it is stopped.
func ticking(tell func()) (stop func()) {
	ticker, end, ended := time.NewTicker(100*time.Millisecond), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				tell()
			case <-end:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(end)
		<-ended
	}
}

// runsProgress tells how far the runs of one command are.
type runsProgress struct {
	*progress.Teller
	runs  int
	limit time.Duration // of each; 0: nobody knows

	done atomic.Int64 // runs
	seen atomic.Int64 // time of the run that is under way
}

// tell is called from time to time.
func (r *runsProgress) tell() {
	done, seen := int(r.done.Load()), time.Duration(r.seen.Load())
	share, text, detail := 0.0, "", ""
	if r.limit > 0 {
		share = min(seen.Seconds()/r.limit.Seconds(), 0.99) // judging is still to come
	}
	switch {
	case r.runs > 1:
		share, text = (float64(done)+share)/float64(r.runs), fmt.Sprintf("%d of %d runs", done, r.runs)
	case r.limit > 0:
		text = fmt.Sprintf("%s of %v", words.Rounded(min(seen, r.limit)), r.limit)
	default:
		share, text = progress.Unknown, words.Rounded(seen)+" of the run"
	}
	if r.limit > 0 && seen >= r.limit {
		detail = "ending and judging"
	}
	r.Tell(share, text, detail)
}

// next begins another run.
func (r *runsProgress) next() {
	r.done.Add(1)
	r.seen.Store(0)
}

// readProgress tells how much of a file is read.
type readProgress struct {
	*progress.Teller
	read, size atomic.Int64 // bytes
}

func (r *readProgress) watch(read, size int64) {
	r.read.Store(read)
	r.size.Store(size)
}

// tell is called from time to time.
func (r *readProgress) tell() {
	const mega = 1e6
	read, size := float64(r.read.Load()), float64(r.size.Load())
	switch {
	case size > 0 && read < size:
		r.Tell(read/size, fmt.Sprintf("%.0f of %.0f MB read", read/mega, size/mega), "")
	case size > 0:
		r.Tell(progress.Unknown, fmt.Sprintf("%.0f MB read", read/mega), "judging")
	default: // a pipe ends when it ends
		r.Tell(progress.Unknown, fmt.Sprintf("%.0f MB read", read/mega), "")
	}
}
