package sim

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Pipe returns the two ends of an in-memory connection. Bytes arrive at once and
// buffers have no bound, so that a writer never waits for its reader: over a
// net.Pipe two peers that both write deadlock. It works in virtual and in real time.
func Pipe() (net.Conn, net.Conn) { return pair("pipe", nil, nil) }

// pair connects two ends. there and back time the bytes of each direction; nil
// means at once.
func pair(name string, there, back *flight) (near, far *conn) {
	ab, ba := newStream(there), newStream(back)
	return &conn{name: name, in: ba, out: ab}, &conn{name: name, in: ab, out: ba}
}

type conn struct {
	name    string
	in, out *stream
}

func (c *conn) Read(p []byte) (int, error)        { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error)       { return c.out.write(p) }
func (c *conn) LocalAddr() net.Addr               { return addr(c.name) }
func (c *conn) RemoteAddr() net.Addr              { return addr(c.name) }
func (c *conn) SetReadDeadline(t time.Time) error { c.in.setDeadline(t); return nil }
func (c *conn) SetWriteDeadline(time.Time) error  { return nil } // a write never waits
func (c *conn) SetDeadline(t time.Time) error     { return c.SetReadDeadline(t) }

// Close ends both directions: the peer reads what is on its way and then io.EOF.
//
// Reading ends first. A peer that the end of the other direction wakes may write at once, and
// whether that fails must not depend on who of the two is faster.
func (c *conn) Close() error {
	c.in.closeRead()
	c.out.closeWrite()
	return nil
}

// CloseWrite tells the peer that nothing more will come, and goes on reading.
func (c *conn) CloseWrite() error {
	c.out.closeWrite()
	return nil
}

// SyscallConn returns io.EOF once the peer has hung up and nothing is left to read, and
// otherwise a connection that shows nothing. It is what a connection pool asks a socket
// before it hands it out again.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if c.in.ended() {
		return nil, io.EOF
	}
	return quiet{}, nil
}

type quiet struct{}

func (quiet) Control(func(uintptr)) error    { return nil }
func (quiet) Read(func(uintptr) bool) error  { return nil }
func (quiet) Write(func(uintptr) bool) error { return nil }

type addr string

func (a addr) Network() string { return "sim" }
func (a addr) String() string  { return string(a) }

// stream is one direction of a connection.
type stream struct {
	flight *flight
	wake   chan struct{} // holds one token when the reader should look again
	timer  *time.Timer   // the reader's; reused

	mu       sync.Mutex
	queue    []chunk
	eof      bool
	eofAt    time.Time
	gone     bool // the reading side is closed
	deadline time.Time
}

// chunk is what one write put on its way. The zero at means that it is there.
type chunk struct {
	at   time.Time
	data []byte
}

func newStream(f *flight) *stream {
	return &stream{flight: f, wake: make(chan struct{}, 1)}
}

// stop stands still in a run that nobody waits for any more.
func (s *stream) stop() {
	if s.flight != nil {
		s.flight.w.stop()
	}
}

func (s *stream) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stream) write(p []byte) (int, error) {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.eof:
		return 0, net.ErrClosed
	case s.gone:
		return 0, io.ErrClosedPipe
	case len(p) == 0:
		return 0, nil
	}
	c := chunk{data: append([]byte(nil), p...)}
	if s.flight != nil {
		c.at = s.flight.arrival()
	}
	s.queue = append(s.queue, c)
	s.nudge()
	return len(p), nil
}

func (s *stream) closeWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eof {
		return
	}
	s.eof = true
	if s.flight != nil {
		s.eofAt = s.flight.arrival()
	}
	s.nudge()
}

func (s *stream) closeRead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone, s.queue = true, nil
	s.nudge()
}

// setDeadline ends reads an instant after t: a context that ends at t, as that of a call whose deadline this is often does, has
// certainly ended before. At one instant nobody could say which is seen first.
func (s *stream) setDeadline(t time.Time) {
	if !t.IsZero() {
		t = t.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	s.nudge()
}

func (s *stream) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone || s.eof && len(s.queue) == 0 && !s.eofAt.After(time.Now())
}

func (s *stream) read(p []byte) (int, error) {
	s.stop()
	byTime := false // nobody but the clock woke the reader
	for {
		n, next, err := s.poll(p)
		if n > 0 || err != nil || len(p) == 0 {
			if byTime && s.flight != nil {
				s.flight.w.acted(s.flight.slot)
			}
			return n, err
		}
		byTime = s.await(next)
	}
}

// poll reads what has arrived, or says when to look again (the zero time: when
// woken).
func (s *stream) poll(p []byte) (n int, next time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return 0, next, net.ErrClosed
	}
	var now time.Time
	if s.flight != nil || !s.deadline.IsZero() {
		now = time.Now()
	}
	if !s.deadline.IsZero() {
		if !now.Before(s.deadline) {
			return 0, next, os.ErrDeadlineExceeded
		}
		next = s.deadline
	}
	for len(s.queue) > 0 && n < len(p) && !s.queue[0].at.After(now) {
		head := &s.queue[0]
		k := copy(p[n:], head.data)
		n += k
		if head.data = head.data[k:]; len(head.data) == 0 {
			s.queue[0] = chunk{}
			s.queue = s.queue[1:]
		}
	}
	if n > 0 {
		return n, next, nil
	}
	switch {
	case len(s.queue) > 0:
		next = earlier(next, s.queue[0].at)
	case s.eof && !s.eofAt.After(now):
		return 0, next, io.EOF
	case s.eof:
		next = earlier(next, s.eofAt)
	}
	return 0, next, nil
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// await blocks until the stream changes, or until next, and says whether it was next.
func (s *stream) await(next time.Time) bool {
	if next.IsZero() {
		<-s.wake
		return false
	}
	d := time.Until(next)
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}
	defer s.timer.Stop()
	select {
	case <-s.wake:
		return false
	case <-s.timer.C:
		return true
	}
}
