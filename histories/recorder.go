package histories

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// flushEvery is how much of a history a killed process may lose, in real time.
const flushEvery = 10 * time.Millisecond

// A Recorder stamps events and keeps them in order, in memory and, as they come,
// in a writer. Its methods are safe for concurrent use.
//
// A goroutine started by NewRecorder writes to the writer, whole lines at a time,
// so that a killed process leaves a readable history. Record itself never does
// I/O and shares nothing with that goroutine but a mutex. A Recorder created
// outside a testing/synctest bubble may therefore be recorded to from inside it;
// call Flush and Close outside.
//
// Strings should be valid UTF-8: every other byte is recorded as U+FFFD, the same
// in memory and in the file.
type Recorder struct {
	w    io.Writer
	stop func()        // stops the flusher
	done chan struct{} // closed when the flusher has stopped

	// flushing orders writers. It is taken before mu and guards spare and written.
	flushing sync.Mutex
	spare    []byte // the buffer that Record does not use now
	written  int    // events that w certainly has

	mu      sync.Mutex
	now     func() time.Duration
	last    time.Duration
	chunks  [][]Event // append-only: a slice of them stays valid without the lock
	n       int       // events recorded
	lines   []byte    // encoded events that w has not been given
	clamped int
	failed  error // the first error of w
	closed  bool
	misuse  error // the first misuse, reported by Close
}

// NewRecorder returns a Recorder that writes one JSON line per event to w. A nil w
// keeps the history in memory only. Close must be called if w is not nil.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{w: w, stop: func() {}}
	if w == nil {
		return r
	}
	stop := make(chan struct{})
	r.stop = sync.OnceFunc(func() { close(stop) })
	r.done = make(chan struct{})
	go r.flusher(stop)
	return r
}

func (r *Recorder) flusher(stop <-chan struct{}) {
	defer close(r.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = r.flush(false) // kept in r.failed; Flush and Close report it
		case <-stop:
			return
		}
	}
}

// Start sets the run's monotonic clock: now returns the time since the run began.
// It is called under the Recorder's lock and must not block. Start is called once,
// before the first Record; Close reports anything else.
func (r *Recorder) Start(now func() time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		r.blame(errors.New("the recorder was started twice; the first clock was kept"))
		return
	}
	r.now = now
}

// StopAt stops the run's clock: from now on it shows at.
func (r *Recorder) StopAt(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = func() time.Duration { return at }
}

// Record sets e's Index and Time, appends it to the history and returns it.
// The order of events is the order of their times. If the clock went back, the
// event gets the time of the one before it; see Clamped.
//
// An event recorded before Start, after Close or with a Type that does not exist
// is kept, as well as it can be, and reported by Close.
func (r *Recorder) Record(e Event) Event {
	e = valid(e)
	r.mu.Lock()
	defer r.mu.Unlock()

	e.Index = r.n
	e.Time = r.instant()
	if e.Type > Fail {
		r.blame(fmt.Errorf("event %d: %w; it was recorded as info", e.Index, badType(e.Type.String())))
		e.Type = Info
	}
	r.keep(e)

	switch {
	case r.closed:
		r.blame(fmt.Errorf("event %d was recorded after Close; it is in memory only", e.Index))
	case r.w != nil && r.failed == nil:
		r.lines = append(appendEvent(r.lines, &e), '\n')
	}
	return e
}

// instant returns the time of the next event.
func (r *Recorder) instant() time.Duration {
	if r.now == nil {
		r.blame(fmt.Errorf("event %d was recorded before Start; its time is unknown and stands as 0", r.n))
		return r.last
	}
	t := r.now()
	if t < r.last {
		r.clamped++
		return r.last
	}
	r.last = t
	return t
}

// keep appends e. Chunks double up to a bound: a short run stays small, and a
// long one never stops every client to copy what it has.
func (r *Recorder) keep(e Event) {
	const least, most = 64, 8192
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last]) == cap(r.chunks[last]) {
		r.chunks = append(r.chunks, make([]Event, 0, min(max(least, r.n), most)))
		last++
	}
	r.chunks[last] = append(r.chunks[last], e)
	r.n++
}

func (r *Recorder) blame(err error) {
	if r.misuse == nil {
		r.misuse = err
	}
}

// Events returns a copy of the history so far.
func (r *Recorder) Events() []Event { return r.From(0) }

// From returns a copy of the history so far, from event number first on.
func (r *Recorder) From(first int) []Event {
	r.mu.Lock()
	n, chunks := r.n, append([][]Event(nil), r.chunks...)
	r.mu.Unlock()

	events := make([]Event, 0, max(0, n-first))
	for _, c := range chunks {
		if skip := min(first, len(c)); skip > 0 {
			c, first = c[skip:], first-skip
		}
		events = append(events, c...)
	}
	return events
}

// Len returns the number of events so far.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Clamped returns how many events got the time of the one before them because the
// clock went back. A sound harness clock gives 0.
func (r *Recorder) Clamped() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clamped
}

// Flush gives the writer every event recorded so far, and returns the writer's
// first error. Once the writer has failed it is not written to again.
func (r *Recorder) Flush() error {
	return r.flush(false)
}

// Close flushes and stops the flusher. It returns the writer's first error and the
// first misuse of the Recorder. Events stays usable. It does not close the writer.
// Close may be called again and then returns the errors known by then.
func (r *Recorder) Close() error {
	r.stop()
	if r.done != nil {
		<-r.done
	}
	err := r.flush(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.misuse == nil {
		return err
	}
	return errors.Join(err, fmt.Errorf("history: %w", r.misuse))
}

// flush swaps the buffers under mu and writes without it, so that a slow disk
// never delays Record.
func (r *Recorder) flush(final bool) error {
	r.flushing.Lock()
	defer r.flushing.Unlock()

	r.mu.Lock()
	lines, n := r.lines, r.n
	r.lines = r.spare[:0]
	r.closed = r.closed || final
	failed := r.failed
	r.mu.Unlock()

	r.spare = lines[:0]
	if len(lines) > 0 && failed == nil {
		k, err := r.w.Write(lines)
		if err == nil && k < len(lines) {
			err = io.ErrShortWrite
		}
		if err != nil {
			r.written += bytes.Count(lines[:k], []byte{'\n'})
			failed = err
		} else {
			r.written = n
		}
	}
	if failed == nil {
		return nil
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = failed
	return fmt.Errorf("history: writing it failed after %d events: %w; all %d events are still in memory", r.written, failed, r.n)
}
