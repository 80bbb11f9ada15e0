package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// Conn is a minimal synchronous client, for the commands that a harness sends on
// its own account. It is not safe for concurrent use.
type Conn struct {
	nc  net.Conn
	r   *bufio.Reader
	buf []byte
	err error // why the connection can no longer be used
}

// NewConn returns a client on nc, which it owns from then on.
func NewConn(nc net.Conn) *Conn {
	return &Conn{nc: nc, r: bufio.NewReader(nc)}
}

// Do sends one command, the name first, and returns its reply. Push frames that
// come before it are skipped. The error is about the connection; what the node
// refuses is in Reply.Err. The deadline of ctx becomes the connection's, and
// cancelling ctx interrupts the call. After an error the connection is closed,
// since a late reply would be taken for the next one, and every later call fails.
func (c *Conn) Do(ctx context.Context, args ...string) (Reply, error) {
	if c.err != nil {
		return Reply{}, c.err
	}
	if len(args) == 0 {
		return Reply{}, errors.New("wire: expected a command, found no arguments")
	}
	reply, err := c.do(ctx, args)
	if err != nil {
		c.err = fmt.Errorf("wire: connection unusable after %s: %w", args[0], err)
		_ = c.nc.Close() // the error that matters is err
		return Reply{}, fmt.Errorf("wire: %s: %w", args[0], err)
	}
	return reply, nil
}

func (c *Conn) do(ctx context.Context, args []string) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	deadline, _ := ctx.Deadline() // the zero time means none, here and there
	if err := c.nc.SetDeadline(deadline); err != nil {
		return Reply{}, err
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = c.nc.SetDeadline(time.Unix(1, 0)) // fails only on a connection that has ended
	})
	reply, err := c.roundTrip(args)
	if !stop() {
		<-interrupted
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if ctx.Err() != nil {
			return Reply{}, ctx.Err()
		}
		return Reply{}, context.DeadlineExceeded
	}
	return reply, err
}

func (c *Conn) roundTrip(args []string) (Reply, error) {
	c.buf = AppendCommand(c.buf[:0], args...)
	if _, err := c.nc.Write(c.buf); err != nil {
		return Reply{}, err
	}
	for {
		reply, err := ReadReply(c.r)
		if err != nil || reply.Type != '>' {
			return reply, unexpected(err)
		}
	}
}

// Close closes the connection.
func (c *Conn) Close() error {
	return c.nc.Close()
}
