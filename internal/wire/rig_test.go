package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// network makes connections of one kind.
type network struct {
	name   string
	bubble bool // runs in virtual time, where "nothing happens" can be proved
	pair   func(t testing.TB) (net.Conn, net.Conn)
}

var networks = []network{
	{"tcp", false, tcpPair},
	{"memory", true, func(testing.TB) (net.Conn, net.Conn) { return memoryPipe(false) }},
	{"memory with half-close", true, func(testing.TB) (net.Conn, net.Conn) { return memoryPipe(true) }},
	{"net.Pipe", true, func(testing.TB) (net.Conn, net.Conn) { return net.Pipe() }},
}

func tcpPair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// everywhere runs f with a fresh link on every network.
func everywhere(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			if !n.bubble {
				f(t, newRig(t, n))
				return
			}
			synctest.Test(t, func(t *testing.T) { f(t, newRig(t, n)) })
		})
	}
}

// rig is a link between clients of the test and a small node.
type rig struct {
	t    testing.TB
	net  network
	link *Link
	node *node
	ctx  context.Context
	wg   sync.WaitGroup
}

func newRig(t testing.TB, n network) *rig {
	r := &rig{t: t, net: n, node: &node{values: map[string]string{}, executed: make(chan string, 10000)}}
	ctx, cancel := context.WithCancel(context.Background())
	r.ctx = ctx
	r.link = NewLink("A", "n1", func(context.Context) (net.Conn, error) {
		near, far := n.pair(t)
		r.wg.Go(func() { r.node.serve(far) })
		return near, nil
	})
	r.link.SetClocks(func(int, Direction) Clock { return clock{} })
	t.Cleanup(func() {
		r.link.Close()
		cancel()
		r.wg.Wait()
	})
	return r
}

// settle returns when nothing moves any more, where that can be known.
func (r *rig) settle() {
	if r.net.bubble {
		synctest.Wait()
	}
}

// connect returns a client connection through the link, and what Serve returned.
func (r *rig) connect() (*client, <-chan error) {
	near, far := r.net.pair(r.t)
	served := make(chan error, 1)
	r.wg.Go(func() { served <- r.link.Serve(r.ctx, far) })
	c := &client{Conn: near, t: r.t, r: bufio.NewReader(near)}
	r.t.Cleanup(func() { near.Close() })
	return c, served
}

// executes waits for the node's next command.
func (r *rig) executes(want string) {
	r.t.Helper()
	if got := <-r.node.executed; got != want {
		r.t.Fatalf("node executed %q, want %q", got, want)
	}
}

func (r *rig) idle() {
	r.t.Helper()
	r.settle()
	select {
	case got := <-r.node.executed:
		r.t.Fatalf("node executed %q, want nothing", got)
	default:
	}
}

type client struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

// send writes a command in the background-free way: net.Pipe blocks until it is
// read, so only the link has to be reading.
func (c *client) send(words ...string) {
	c.t.Helper()
	c.write(string(AppendCommand(nil, words...)))
}

func (c *client) write(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

func (c *client) receive(want string) {
	c.t.Helper()
	reply, err := ReadReply(c.r)
	if err != nil {
		c.t.Fatalf("got error %v, want reply %q", err, want)
	}
	if got := string(appendReply(nil, reply)); got != want {
		c.t.Fatalf("got reply %q, want %q", got, want)
	}
}

func (c *client) receivesEnd() {
	c.t.Helper()
	if b, err := c.r.ReadByte(); err == nil {
		c.t.Fatalf("got byte %q, want the end of the connection", b)
	}
}

// node is a Redis of few commands. It notes a command before it answers.
type node struct {
	mu       sync.Mutex
	values   map[string]string
	counts   int
	executed chan string
}

func (n *node) serve(nc net.Conn) {
	defer nc.Close()
	r := bufio.NewReader(nc)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		note := strings.Join(words, " ")
		if len(note) > 100 {
			note = fmt.Sprintf("%s and %d bytes", words[0], len(note)-len(words[0])-1)
		}
		n.executed <- note
		reply, raw := n.execute(words)
		if _, err := io.WriteString(nc, reply); err != nil && !errors.Is(err, io.ErrClosedPipe) && !raw {
			continue // as Redis does: the commands that have arrived are executed
		}
		if raw { // from here on: an echo
			_, _ = io.Copy(nc, r)
			return
		}
		if words[0] == "QUIT" {
			return
		}
	}
}

func (n *node) execute(words []string) (reply string, raw bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch strings.ToUpper(words[0]) {
	case "PING":
		return "+PONG\r\n", false
	case "SET":
		n.values[words[1]] = words[2]
		return "+OK\r\n", false
	case "GET":
		if v, ok := n.values[words[1]]; ok {
			return string(appendBulk(nil, '$', v)), false
		}
		return "$-1\r\n", false
	case "COUNT": // how often was it sent
		n.counts++
		return fmt.Sprintf(":%d\r\n", n.counts), false
	case "REPLY": // answers with the given bytes
		return words[1], false
	case "CLIENT":
		return "", len(words) > 2 && words[1] == "REPLY"
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR", "SYNC", "PSYNC":
		return "+raw\r\n", true
	}
	return "+OK\r\n", false
}

func (c *client) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c.r, got); err != nil || string(got) != want {
		c.t.Fatalf("got bytes %q and %v, want %q", got, err, want)
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }
