package external

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

const (
	// connectLimit bounds the set-up of a connection.
	connectLimit = 10 * time.Second
	// farewell bounds how long a connection that was closed waits for the server's end.
	farewell = 2 * time.Second
)

// dial opens a connection that is ready for commands: encrypted, logged in, and on the
// right database. It is done here, behind the wire links, so that neither locks nor what
// is kept of a run ever see a password.
func (a address) dial(ctx context.Context, roots *x509.CertPool) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectLimit, fmt.Errorf("no answer within %v", connectLimit))
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", a.host)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be reached: %w", a, err)
	}
	if a.tls {
		host, _, _ := net.SplitHostPort(a.host) // made by JoinHostPort
		secured := tls.Client(nc, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, RootCAs: roots})
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = nc.Close()
			return nil, fmt.Errorf("%s: no TLS: %w", a, err)
		}
		nc = secured
	}
	if err := a.setUp(ctx, wire.NewConn(nc)); err != nil {
		_ = nc.Close()
		return nil, err
	}
	if err := nc.SetDeadline(time.Time{}); err != nil {
		_ = nc.Close()
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	return nc, nil
}

// setUp logs in and selects the database. Of a refusal it tells the code alone: a server
// may repeat what it was sent.
func (a address) setUp(ctx context.Context, conn *wire.Conn) error {
	var commands [][]string
	switch user, password := a.login(); {
	case user != "":
		commands = append(commands, []string{"AUTH", user, password})
	case password != "":
		commands = append(commands, []string{"AUTH", password})
	}
	if a.db != 0 {
		commands = append(commands, []string{"SELECT", strconv.Itoa(a.db)})
	}
	for _, command := range commands {
		reply, err := conn.Do(ctx, command...)
		if err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
		if err := reply.Err(); err != nil {
			code, _, _ := strings.Cut(err.Error(), " ")
			return fmt.Errorf("%s refuses %s (%s): check user, password and database of its address", a, command[0], code)
		}
	}
	return nil
}

// upstream is a connection that ends politely. What was written on it has been executed
// once the server ends its side too, so that nothing lands after the keys were removed.
type upstream struct {
	net.Conn
	goodbyes *sync.WaitGroup
	closed   atomic.Bool
}

// Read fails after Close.
func (u *upstream) Read(p []byte) (int, error) {
	if u.closed.Load() {
		return 0, net.ErrClosed
	}
	n, err := u.Conn.Read(p)
	if u.closed.Load() {
		return 0, net.ErrClosed
	}
	return n, err
}

// CloseWrite tells the server that no more will come.
func (u *upstream) CloseWrite() error {
	half, ok := u.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Close returns at once. The connection goes on, unseen, until the server has ended it.
func (u *upstream) Close() error {
	if u.closed.Swap(true) {
		return nil
	}
	err := u.SetDeadline(time.Unix(1, 0)) // wakes who reads or writes
	u.goodbyes.Go(func() {
		defer u.Conn.Close()
		if u.SetDeadline(time.Now().Add(farewell)) == nil && u.CloseWrite() == nil {
			_, _ = io.Copy(io.Discard, u.Conn) // replies that nobody waits for any more
		}
	})
	return err
}
