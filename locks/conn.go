package locks

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// lazyConn is a connection that is dialed by its first write, in the goroutine and
// under the deadline of the call that needs it.
//
// The pool of go-redis dials in a goroutine of its own, which a caller that gives up
// leaves behind. It also never forgets failed dials: after PoolSize of them it refuses
// to dial, and probes the server once a second. With a lazyConn its dials never fail.
type lazyConn struct {
	dial   func(ctx context.Context) (net.Conn, error)
	ctx    context.Context // ends when the connection is closed
	cancel context.CancelFunc

	mu       sync.Mutex // never held while dialing
	conn     net.Conn   // nil before the first write
	deadline time.Time  // of the first write
}

func newLazyConn(dial func(ctx context.Context) (net.Conn, error)) *lazyConn {
	ctx, cancel := context.WithCancel(context.Background())
	return &lazyConn{dial: dial, ctx: ctx, cancel: cancel}
}

// dialError says that a command was never sent, because there was no connection.
type dialError struct{ err error }

func (e *dialError) Error() string { return "dial: " + e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

func (c *lazyConn) Write(b []byte) (int, error) {
	conn := c.dialed()
	if conn == nil {
		var err error
		if conn, err = c.connect(); err != nil {
			// Wrapped twice: go-redis takes one layer off the errors of a new connection.
			return 0, fmt.Errorf("new connection: %w", &dialError{err})
		}
	}
	return conn.Write(b)
}

// connect dials. The pool lets one call at a time use a connection; only Close may
// come in between.
func (c *lazyConn) connect() (net.Conn, error) {
	c.mu.Lock()
	deadline := c.deadline
	c.mu.Unlock()
	ctx := c.ctx
	if !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := conn.SetWriteDeadline(deadline); err != nil {
		_ = conn.Close() // the first error counts
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		_ = conn.Close() // the first error counts
		return nil, net.ErrClosed
	}
	c.conn = conn
	return conn, nil
}

func (c *lazyConn) Close() error {
	c.cancel()
	if conn := c.dialed(); conn != nil {
		return conn.Close()
	}
	return nil
}

func (c *lazyConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	if conn := c.dialed(); conn != nil {
		return conn.SetWriteDeadline(t)
	}
	return nil
}

// The rest is only of use after the first write.

func (c *lazyConn) Read(b []byte) (int, error) {
	if conn := c.dialed(); conn != nil {
		return conn.Read(b)
	}
	return 0, net.ErrClosed
}

func (c *lazyConn) SetReadDeadline(t time.Time) error {
	if conn := c.dialed(); conn != nil {
		return conn.SetReadDeadline(t)
	}
	return nil
}

func (c *lazyConn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

func (c *lazyConn) LocalAddr() net.Addr {
	if conn := c.dialed(); conn != nil {
		return conn.LocalAddr()
	}
	return notDialed{}
}

func (c *lazyConn) RemoteAddr() net.Addr {
	if conn := c.dialed(); conn != nil {
		return conn.RemoteAddr()
	}
	return notDialed{}
}

// SyscallConn lets the pool see that the peer has hung up before it hands the
// connection out again, as it does for sockets.
func (c *lazyConn) SyscallConn() (syscall.RawConn, error) {
	if conn, ok := c.dialed().(syscall.Conn); ok {
		return conn.SyscallConn()
	}
	return nothingToSee{}, nil
}

// nothingToSee is a healthy connection without a socket.
type nothingToSee struct{}

func (nothingToSee) Control(func(uintptr)) error    { return nil }
func (nothingToSee) Read(func(uintptr) bool) error  { return nil }
func (nothingToSee) Write(func(uintptr) bool) error { return nil }

// dialed is the connection, or nil before the first write.
func (c *lazyConn) dialed() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// notDialed is the address of a connection before its first write.
type notDialed struct{}

func (notDialed) Network() string { return "none" }
func (notDialed) String() string  { return "not dialed" }
