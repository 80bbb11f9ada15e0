package docker

import (
	"net"
	"net/netip"
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// listening returns a server at an address of this machine where somebody listens, but
// never ends a connection, as a container that has vanished.
func listening(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	s := (&Cluster{}).newServer(cluster.Node{Name: "master"}, false)
	host, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	s.ip, s.port = netip.MustParseAddr(host), port
	return s
}

// A container that vanishes without a last packet still ends its connections.
func TestEndOfContainerEndsConnections(t *testing.T) {
	s := listening(t)
	first := s.begin()
	if nc, err := s.Dial(t.Context()); err == nil {
		t.Error("a server that has not answered yet was dialed", nc.Close())
	}
	s.open(first)
	nc, err := s.Dial(t.Context())
	must(t, err)
	s.hangUp() // too early: it runs
	if len(s.conns) != 1 {
		t.Fatalf("%d open connections, want 1", len(s.conns))
	}
	close(first.done)
	s.hangUp()
	if _, err := nc.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	if nc, err := s.Dial(t.Context()); err == nil {
		t.Error("a dead server was dialed", nc.Close())
	}
}

// The connections to an earlier life of a container do not go over to the next.
func TestRestartEndsConnections(t *testing.T) {
	s := listening(t)
	first := s.begin()
	s.open(first)
	nc, err := s.Dial(t.Context())
	must(t, err)
	close(first.done)
	s.begin()
	s.hangUp()
	if _, err := nc.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
}
