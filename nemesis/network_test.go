package nemesis_test

import (
	"bufio"
	"errors"
	"net"
	"os"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/wire"
)

// What tests of faults on the network share.

func (w world) isVirtual() bool {
	_, virtual := w.deployment.(*embedded.Cluster)
	return virtual
}

func (w world) dial() net.Conn {
	w.t.Helper()
	nc, err := w.Dial(ctx, "A", "master")
	must(w.t, err)
	return nc
}

// connect opens a connection of client A.
func (w world) connect() *wire.Conn {
	w.t.Helper()
	return wire.NewConn(w.dial())
}

func (w world) replies(conn *wire.Conn, want string, args ...string) {
	w.t.Helper()
	reply, err := conn.Do(ctx, args...)
	must(w.t, err)
	if got := reply.Text(); got != want {
		w.t.Errorf("%v: got %q, want %q", args, got, want)
	}
}

// keeps waits until a frozen link keeps something.
func (w world) keeps(link *wire.Link) {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); link.Waiting() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatal("the link keeps nothing after 10 s")
		}
	}
}

// subscription is a connection of client A that has sent SUBSCRIBE c.
type subscription struct {
	net.Conn
	world
	r *bufio.Reader
}

// subscribe does not wait for the confirmation.
func (w world) subscribe() subscription {
	w.t.Helper()
	nc := w.dial()
	_, err := nc.Write(wire.AppendCommand(nil, "SUBSCRIBE", "c"))
	must(w.t, err)
	return subscription{nc, w, bufio.NewReader(nc)}
}

// receives reads messages up to one with this word.
func (s subscription) receives(word string) {
	s.t.Helper()
	for {
		m, err := wire.ReadReply(s.r)
		must(s.t, err)
		if slices.ContainsFunc(m.Elems, func(e wire.Reply) bool { return e.Text() == word }) {
			return
		}
	}
}

// ends reads to the end of the connection.
func (s subscription) ends() {
	s.t.Helper()
	must(s.t, s.SetReadDeadline(time.Now().Add(10*time.Second)))
	for {
		if _, err := wire.ReadReply(s.r); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				s.t.Error("the subscription lives")
			}
			return
		}
	}
}
