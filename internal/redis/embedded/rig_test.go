package embedded

import (
	"bufio"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/wire"
)

// client sends commands to one server and writes replies down in full.
type client struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func newClient(t testing.TB, conn net.Conn) *client {
	t.Cleanup(func() { _ = conn.Close() })
	return &client{t, conn, bufio.NewReader(conn)}
}

func (c *client) do(args ...string) string {
	c.t.Helper()
	if err := c.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.conn.Write(wire.AppendCommand(nil, args...)); err != nil {
		c.t.Fatal(err)
	}
	return c.reply()
}

func (c *client) reply() string {
	c.t.Helper()
	line, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	line = strings.TrimSpace(line)
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$':
		if n < 0 {
			return "nil"
		}
		bulk := make([]byte, n+2)
		for read := 0; read < len(bulk); {
			k, err := c.r.Read(bulk[read:])
			if err != nil {
				c.t.Fatal(err)
			}
			read += k
		}
		return strconv.Quote(string(bulk[:n]))
	case '%':
		n *= 2
		fallthrough
	case '*':
		if n < 0 {
			return "nil"
		}
		elements := make([]string, n)
		for i := range elements {
			elements[i] = c.reply()
		}
		return "[" + strings.Join(elements, " ") + "]"
	}
	return line
}

func (c *client) eval(script string, args ...string) string {
	c.t.Helper()
	return c.do(append([]string{"EVAL", script}, args...)...)
}

func (c *client) want(want string, args ...string) {
	c.t.Helper()
	if got := c.do(args...); got != want {
		c.t.Errorf("%v answered %s, want %s", args, got, want)
	}
}

// plainServer is miniredis as it is.
func plainServer(t testing.TB) *miniredis.Miniredis {
	t.Helper()
	m := miniredis.NewMiniRedis()
	t.Cleanup(m.Close)
	conn, err := m.Dial()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	m.SetTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return m
}

// scriptServer is miniredis with the scripts run by this package, in real time.
func scriptServer(t testing.TB) (*miniredis.Miniredis, *scripts) {
	t.Helper()
	m := plainServer(t)
	s := newScripts(m, new(Shared))
	m.Server().SetPreHook(func(p *server.Peer, cmd string, args ...string) bool { return s.serve(p, cmd, args) })
	return m, s
}

func dial(t testing.TB, m *miniredis.Miniredis) *client {
	t.Helper()
	conn, err := m.Dial()
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, conn)
}

// dialReal starts a real server. What is compared is worded as in Redis 7.0.
func dialReal(t testing.TB) *client {
	t.Helper()
	conn, err := net.Dial("tcp", locktest.StartRedis(t))
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, conn)
	if !strings.Contains(c.do("INFO", "server"), "redis_version:7.0.") {
		t.Skip("redis-server is not 7.0, whose wording this compares with")
	}
	return c
}
