package worker

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// linked is a cluster of which only the links are there.
type linked struct {
	cluster.Cluster
	links map[string]*wire.Link
}

func (l linked) Link(_, node string) *wire.Link { return l.links[node] }

// A listener that fails at first, and then has one visitor.
type listener struct {
	net.Listener
	answers []func() (net.Conn, error)
}

func (l *listener) Accept() (net.Conn, error) {
	answer := l.answers[0]
	l.answers = l.answers[1:]
	return answer()
}

// A gateway that had no file descriptor for one connection takes the next one.
func TestGatewayAcceptsAgain(t *testing.T) {
	link := wire.NewLink("A", "master", func(context.Context) (net.Conn, error) { return nil, errors.New("nobody there") })
	defer link.Close()
	link.Cut()
	g := NewGateway("A", linked{links: map[string]*wire.Link{"master": link}})
	ours, theirs := net.Pipe()
	g.accept(&listener{answers: []func() (net.Conn, error){
		func() (net.Conn, error) { return nil, syscall.EMFILE },
		func() (net.Conn, error) { return theirs, nil },
		func() (net.Conn, error) { return nil, net.ErrClosed },
	}}, func() string { return "master" })
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the visitor over a cut link sees %v, want an end", err)
	}
	must(t, g.Close())
}

// TestGateway checks that what a worker sends crosses its link to the node that serves just
// then.
func TestGateway(t *testing.T) {
	c := linked{links: map[string]*wire.Link{}}
	for _, node := range []string{"master", "replica"} {
		m := miniredis.RunT(t)
		must(t, m.Set("who", node))
		link := wire.NewLink("A", node, func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", m.Addr())
		})
		defer link.Close()
		c.links[node] = link
	}
	g := NewGateway("A", c)
	var primary atomic.Value
	primary.Store("master")
	node := func() string { return primary.Load().(string) }
	addr, err := g.Listen(t.Context(), node)
	must(t, err)
	get := func() string {
		t.Helper()
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return "refused" // by a reset that came so soon
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write(wire.AppendCommand(nil, "GET", "who")); err != nil {
			return "refused"
		}
		reply, err := wire.ReadReply(bufio.NewReader(conn))
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatal("half a reply")
		case err != nil:
			return "refused"
		}
		return reply.Text()
	}
	if got := get(); got != "master" {
		t.Errorf("connected to %s", got)
	}
	primary.Store("replica")
	if got := get(); got != "replica" {
		t.Errorf("after a failover: %s", got)
	}
	c.links["replica"].Cut()
	if got := get(); got != "refused" {
		t.Errorf("over a cut link: %s", got)
	}
	c.links["replica"].Heal()
	if got := get(); got != "replica" {
		t.Errorf("over a healed link: %s", got)
	}
	must(t, g.Close())
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("it listens after Close")
	}
	if _, err := g.Listen(t.Context(), node); !errors.Is(err, net.ErrClosed) {
		t.Errorf("listens after Close: %v", err)
	}
}
