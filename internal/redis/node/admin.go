package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// Admin calls f with a connection of its own to addr. It crosses no Link, so that no
// fault of the wire reaches it.
func Admin(ctx context.Context, addr string, f func(*wire.Conn) error) error {
	err := admin(ctx, addr, f)
	if deadline, ok := ctx.Deadline(); err != nil && ok && !time.Now().Before(deadline) {
		<-ctx.Done() // a read may time out a moment before its context does
	}
	if err != nil && ctx.Err() != nil { // more to the point than a read that timed out
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return err
}

func admin(ctx context.Context, addr string, f func(*wire.Conn) error) error {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	conn := wire.NewConn(nc)
	defer func() { _ = conn.Close() }()
	return f(conn)
}

// Do sends one command and returns its reply. An error reply is an error.
func Do(ctx context.Context, conn *wire.Conn, args ...string) (wire.Reply, error) {
	reply, err := conn.Do(ctx, args...)
	if err == nil {
		err = reply.Err()
	}
	if err != nil {
		return wire.Reply{}, fmt.Errorf("%s: %w", args[0], err)
	}
	return reply, nil
}

// Command sends one command to addr over a connection of its own.
func Command(ctx context.Context, addr string, args ...string) (wire.Reply, error) {
	if len(args) == 0 {
		return wire.Reply{}, errors.New("want a command, got nothing")
	}
	var reply wire.Reply
	err := Admin(ctx, addr, func(conn *wire.Conn) (err error) {
		reply, err = Do(ctx, conn, args...)
		return err
	})
	return reply, err
}

// ErrNoField says that a section of INFO does not have that field.
var ErrNoField = errors.New("no such field")

// Info returns one number of a section of INFO.
func Info(ctx context.Context, conn *wire.Conn, section, field string) (int64, error) {
	reply, err := Do(ctx, conn, "INFO", section)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(reply.Text()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == field {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("INFO %s: %s: %w", section, field, ErrNoField)
}
