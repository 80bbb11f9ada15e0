package worker

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// Options make of a lock of the catalogue one that keeps itself elsewhere, as those of users do.
// The zero value changes nothing.
type Options struct {
	Prefix   string // of every key
	HashTag  bool   // the name of the lock is in braces
	Database int    // in which the keys are
	// Silent keeps hello from telling of any of that.
	Silent bool
	// First is a command with one argument, the lock's key, that is sent to every master before
	// each acquire. Optional: none is.
	First string
}

// rename is the name that the lock is given in place of key.
func (o Options) rename(key string) string {
	if o.HashTag {
		key = "{" + key + "}"
	}
	return o.Prefix + key
}

// hello is what the worker of a lock says of it.
func (o Options) hello(spec locks.Spec) Answer {
	a := Answer{Guards: guards(spec), Promises: promised(spec)}
	for _, c := range []struct {
		name string
		has  bool
	}{
		{CanExtend, spec.Extends}, {CanLost, spec.Renews}, {CanShare, spec.ReadWrite}, {CanReenter, spec.Reenters}, {CanWait, spec.Waits},
		{CanThreads, spec.Promises.Threads}, {CanReleaseTwice, spec.Promises.ReleasesTwice},
		{CanReleaseRefused, spec.Promises.ReleasesRefused}, {CanVerify, spec.Promises.Verifies},
		{CanWithoutTTL, spec.Promises.WithoutTTL},
	} {
		if c.has {
			a.Can = append(a.Can, c.name)
		}
	}
	if o.Silent {
		return a
	}
	a.Database, a.Keys = o.Database, []string{o.rename(keyMark)}
	if spec.Keys != nil {
		a.Keys = spec.Keys(o.rename(keyMark))
	}
	return a
}

// guards are those that go with a lock.
func guards(spec locks.Spec) []string {
	var names []string
	for _, g := range resource.Guards() {
		if g.Supports(spec) == nil {
			names = append(names, g.String())
		}
	}
	return names
}

// dial opens a connection to a master of the lock, in the database of the options.
func (o Options) dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil || o.Database == 0 {
		return conn, err
	}
	// Clients that know of no database leave a connection in the one that it has.
	if err := selectDatabase(ctx, conn, o.Database); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func selectDatabase(ctx context.Context, conn net.Conn, database int) error {
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	number := fmt.Sprint(database)
	if _, err := fmt.Fprintf(conn, "*2\r\n$6\r\nSELECT\r\n$%d\r\n%s\r\n", len(number), number); err != nil {
		return err
	}
	const ok = "+OK\r\n"
	var reply strings.Builder
	for one := make([]byte, 1); !strings.HasSuffix(reply.String(), "\r\n"); {
		if _, err := conn.Read(one); err != nil {
			return err
		}
		reply.Write(one)
	}
	if reply.String() != ok {
		return fmt.Errorf("SELECT %d is answered with %q, want %q", database, reply.String(), ok)
	}
	return nil
}

// precede sends the first command. Its answer says nothing of the lock, and neither does an
// error: the acquire that follows finds it out.
func (o Options) precede(ctx context.Context, masters []*locks.Client, keys []string) {
	if o.First == "" {
		return
	}
	for _, m := range masters {
		_ = m.Do(ctx, o.First, keys[0]).Err()
	}
}
