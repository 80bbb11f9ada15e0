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

// Do sends one command, the name first, and returns its reply. The error is about the connection;
// what the node refuses is in Reply.Err.
func (c *Conn) Do(ctx context.Context, args ...string) (Reply, error) {
	replies, err := c.Pipeline(ctx, args)
	if err != nil {
		return Reply{}, err
	}
	return replies[0], nil
}

// Pipeline sends commands, the name of each first, all at once, and returns a reply for each. The
// node must go on reading while its replies wait to be read, as a Redis server does. Push frames
// are skipped. The error is about the connection. The deadline of ctx becomes the connection's,
// and cancelling ctx interrupts the call. After an error the connection is closed, since a late
// reply would be taken for the next one, and every later call fails.
func (c *Conn) Pipeline(ctx context.Context, commands ...[]string) ([]Reply, error) {
	if c.err != nil {
		return nil, c.err
	}
	c.buf = c.buf[:0]
	for _, args := range commands {
		if len(args) == 0 {
			return nil, errors.New("wire: expected a command, found no arguments")
		}
		c.buf = AppendCommand(c.buf, args...)
	}
	replies, err := c.bounded(ctx, len(commands))
	if err != nil {
		failed := commands[len(replies)][0]
		c.err = fmt.Errorf("wire: connection unusable after %s: %w", failed, err)
		_ = c.nc.Close() // the error that matters is err
		return nil, fmt.Errorf("wire: %s: %w", failed, err)
	}
	return replies, nil
}

// bounded is roundTrip until ctx ends.
func (c *Conn) bounded(ctx context.Context, commands int) ([]Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline() // the zero time means none, here and there
	if err := c.nc.SetDeadline(deadline); err != nil {
		return nil, err
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = c.nc.SetDeadline(time.Unix(1, 0)) // fails only on a connection that has ended
	})
	replies, err := c.roundTrip(commands)
	if !stop() {
		<-interrupted
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if ctx.Err() != nil {
			return replies, ctx.Err()
		}
		return replies, context.DeadlineExceeded
	}
	return replies, err
}

// roundTrip writes what is in the buffer and reads replies to so many commands. With an error come
// those that were read before it.
func (c *Conn) roundTrip(commands int) ([]Reply, error) {
	if _, err := c.nc.Write(c.buf); err != nil {
		return nil, err
	}
	replies := make([]Reply, 0, commands)
	for len(replies) < commands {
		reply, err := ReadReply(c.r)
		if err != nil {
			return replies, unexpected(err)
		}
		if reply.Type != '>' {
			replies = append(replies, reply)
		}
	}
	return replies, nil
}

// Close closes the connection.
func (c *Conn) Close() error {
	return c.nc.Close()
}
