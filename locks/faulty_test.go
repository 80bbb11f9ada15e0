package locks_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
)

// faulty is an in-process server whose connections go wrong on demand. It belongs to
// one bubble.
type faulty struct {
	*miniredis.Miniredis
	down    atomic.Bool  // dials fail, and open connections are cut
	swallow atomic.Int64 // so many replies are lost; their connections stay silent
}

func newFaulty(t *testing.T) *faulty {
	f := &faulty{Miniredis: miniredis.NewMiniRedis()}
	f.ClockTTL(true)
	t.Cleanup(f.Close)
	return f
}

// client returns a client whose first connection is open already.
func (f *faulty) client(t *testing.T) *redis.Client {
	client := locks.NewClient(f.dial)
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	return client
}

var errDown = errors.New("connection refused")

func (f *faulty) dial(context.Context) (net.Conn, error) {
	if f.down.Load() {
		return nil, errDown
	}
	conn, err := f.Dial()
	if err != nil {
		return nil, err
	}
	silence, never := net.Pipe()
	return &faultyConn{Conn: conn, node: f, silence: silence, never: never}, nil
}

type faultyConn struct {
	net.Conn
	node           *faulty
	silence, never net.Conn // a read of silence takes until the deadline, or Close
}

func (c *faultyConn) Write(b []byte) (int, error) {
	if c.node.down.Load() {
		return 0, errDown
	}
	return c.Conn.Write(b)
}

func (c *faultyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.node.swallow.Load() > 0 {
		c.node.swallow.Add(-1)
		return c.silence.Read(b)
	}
	return n, err
}

func (c *faultyConn) SetReadDeadline(t time.Time) error {
	return errors.Join(c.silence.SetReadDeadline(t), c.Conn.SetReadDeadline(t))
}

func (c *faultyConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *faultyConn) Close() error {
	return errors.Join(c.silence.Close(), c.never.Close(), c.Conn.Close())
}

// faultyEnv makes n masters and the surroundings of one client of theirs.
func faultyEnv(t *testing.T, n int) ([]*faulty, locks.Env) {
	nodes := make([]*faulty, n)
	env := seeded("A")
	env.Dial = func(ctx context.Context, node int) (net.Conn, error) { return nodes[node].dial(ctx) }
	for i := range nodes {
		nodes[i] = newFaulty(t)
		env.Nodes = append(env.Nodes, nodes[i].client(t))
	}
	return nodes, env
}

// answerWait makes WAIT answer as if so many replicas had everything: an in-process
// server has none.
func answerWait(t testing.TB, m *miniredis.Miniredis, replicas int) {
	t.Helper()
	if replicas == 0 {
		return
	}
	conn, err := m.Dial() // which makes the server
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close() // nothing was sent
	m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
		if command != "WAIT" {
			return false
		}
		peer.WriteInt(replicas)
		return true
	})
}
