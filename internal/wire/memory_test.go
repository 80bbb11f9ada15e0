package wire

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// memoryPipe returns the two ends of an in-memory connection whose writes never
// block. Both ends can be half-closed if half is set.
func memoryPipe(half bool) (net.Conn, net.Conn) {
	ab, ba := &stream{wake: make(chan struct{})}, &stream{wake: make(chan struct{})}
	a := &memoryConn{in: ba, out: ab}
	b := &memoryConn{in: ab, out: ba}
	if half {
		return halfCloser{a}, halfCloser{b}
	}
	return a, b
}

// stream is one direction. Whatever changes closes wake and replaces it.
type stream struct {
	mu       sync.Mutex
	buf      []byte
	ended    bool // by the writer: what is left can be read
	refused  bool // by the reader
	deadline time.Time
	timer    *time.Timer
	wake     chan struct{}
}

func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.wake)
	s.wake = make(chan struct{})
}

func (s *stream) read(p []byte) (int, error) {
	for {
		s.mu.Lock()
		wake := s.wake
		switch {
		case s.refused:
			s.mu.Unlock()
			return 0, net.ErrClosed
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			s.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			s.buf = s.buf[n:]
			s.mu.Unlock()
			return n, nil
		case s.ended:
			s.mu.Unlock()
			return 0, io.EOF
		}
		s.mu.Unlock()
		<-wake
	}
}

func (s *stream) setDeadline(t time.Time) {
	s.change(func() {
		s.deadline = t
		if s.timer != nil {
			s.timer.Stop()
			s.timer = nil
		}
		if !t.IsZero() {
			s.timer = time.AfterFunc(time.Until(t), func() { s.change(func() {}) })
		}
	})
}

type memoryConn struct{ in, out *stream }

func (c *memoryConn) Read(p []byte) (int, error) { return c.in.read(p) }

func (c *memoryConn) Write(p []byte) (n int, err error) {
	c.out.change(func() {
		if c.out.ended || c.out.refused {
			err = io.ErrClosedPipe
			return
		}
		c.out.buf = append(c.out.buf, p...)
		n = len(p)
	})
	return n, err
}

func (c *memoryConn) Close() error {
	c.in.setDeadline(time.Time{})
	c.out.change(func() { c.out.ended = true })
	c.in.change(func() { c.in.refused = true })
	return nil
}

func (c *memoryConn) SetDeadline(t time.Time) error      { c.in.setDeadline(t); return nil }
func (c *memoryConn) SetReadDeadline(t time.Time) error  { c.in.setDeadline(t); return nil }
func (c *memoryConn) SetWriteDeadline(t time.Time) error { return nil }
func (c *memoryConn) LocalAddr() net.Addr                { return nil }
func (c *memoryConn) RemoteAddr() net.Addr               { return nil }

type halfCloser struct{ *memoryConn }

func (c halfCloser) CloseWrite() error {
	c.out.change(func() { c.out.ended = true })
	return nil
}
