package wire

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// redisServer starts a redis-server for the test and returns its address.
func redisServer(t *testing.T) string {
	t.Helper()
	// With a snapshot by way of the disk the stream flows at once; see package process.
	return locktest.StartRedis(t, "--repl-diskless-sync", "no", "--hz", "100")
}

// eventually waits for what another process does in its own time.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func dialRedis(t *testing.T, addr string) *Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c := NewConn(nc)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func do(t *testing.T, c *Conn, args ...string) Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reply, err := c.Do(ctx, args...)
	if err == nil {
		err = reply.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return reply
}

// listen gives a link an address and serves what comes there.
func listen(t *testing.T, link *Link) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { _ = link.Serve(context.Background(), nc) }()
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
		link.Close()
	})
	return ln.Addr().String()
}

func linkTo(client, node, addr string) *Link {
	return NewLink(client, node, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	})
}

func TestRedisCommands(t *testing.T) {
	addr := redisServer(t)
	link := linkTo("A", "n1", addr)
	var events []string
	link.Observe(func(e Event) {
		if e.Kind == Replied {
			events = append(events, e.Command.String()+" → "+e.Reply)
		}
	})
	c := dialRedis(t, listen(t, link))
	do(t, c, "HELLO", "3")
	do(t, c, "CLIENT", "TRACKING", "ON") // its invalidations are push frames
	do(t, c, "SET", "k", "v", "NX", "PX", "60000")
	do(t, c, "GET", "k")
	do(t, dialRedis(t, addr), "SET", "k", "w")
	if got := do(t, c, "GET", "k").Text(); got != "w" {
		t.Errorf("GET k = %q, want w", got)
	}
	do(t, c, "EVAL", "return {1, 'two', false, {KEYS[1]}}", "1", "k")
	do(t, c, "MULTI")
	do(t, c, "HGETALL", "none")
	do(t, c, "EXEC")
	link.Close()
	want := []string{
		"SET k v NX PX 60000 → OK", "GET k → v", "GET k → w", `EVAL "return {1, …" k → [1 two nil [k]]`,
		"MULTI → OK", "HGETALL none → QUEUED", "EXEC → [[]]",
	}
	if got := strings.Join(events[2:], "\n"); got != strings.Join(want, "\n") {
		t.Errorf("events:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// A client gives up on a held SET and hangs up; the SET lands all the same.
func TestRedisLateSet(t *testing.T) {
	addr := redisServer(t)
	link := linkTo("A", "n1", addr)
	h := link.HoldRequest(Match{Names: []string{"SET"}})
	nc, err := net.Dial("tcp", listen(t, link))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Write(AppendCommand(nil, "SET", "k", "late")); err != nil {
		t.Fatal(err)
	}
	<-h.Seen()
	nc.Close()
	direct := dialRedis(t, addr)
	if !do(t, direct, "GET", "k").Null {
		t.Error("the held SET has landed")
	}
	h.Release()
	eventually(t, "the late SET lands", func() bool { return do(t, direct, "GET", "k").Text() == "late" })
}

func TestRedisSubscribe(t *testing.T) {
	addr := redisServer(t)
	for _, proto := range []string{"2", "3"} {
		t.Run("RESP"+proto, func(t *testing.T) {
			link := linkTo("A", "n1", addr)
			nc, err := net.Dial("tcp", listen(t, link))
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			sub := NewConn(nc)
			do(t, sub, "HELLO", proto)
			if _, err := nc.Write(AppendCommand(nil, "SUBSCRIBE", "a", "b")); err != nil {
				t.Fatal(err)
			}
			for _, channel := range []string{"a", "b"} {
				if m, err := ReadReply(sub.r); err != nil || m.Elems[1].Text() != channel {
					t.Fatalf("subscribe: %v, %v", m, err)
				}
			}
			link.Freeze()
			do(t, dialRedis(t, addr), "PUBLISH", "b", "hello")
			link.Thaw()
			if m, err := ReadReply(sub.r); err != nil || m.Elems[2].Text() != "hello" {
				t.Fatalf("message: %v, %v", m, err)
			}
			link.Cut()
			if _, err := ReadReply(sub.r); err == nil {
				t.Error("the connection outlived Cut")
			}
		})
	}
}

// A replica follows its master through a link. A write behind Cut does not reach
// it; after Heal it catches up.
func TestRedisReplication(t *testing.T) {
	masterAddr, replicaAddr := redisServer(t), redisServer(t)
	link := linkTo("replica", "master", masterAddr)
	host, port, _ := net.SplitHostPort(listen(t, link))
	master, replica := dialRedis(t, masterAddr), dialRedis(t, replicaAddr)
	do(t, master, "SET", "big", strings.Repeat("x", 3<<20)) // the snapshot is longer than any buffer
	do(t, replica, "REPLICAOF", host, port)
	// WAIT does not tell: for a write made before there was a replica it has no offset to
	// wait for.
	eventually(t, "the replica has the snapshot", func() bool { return len(do(t, replica, "GET", "big").Text()) == 3<<20 })
	do(t, master, "SET", "flowing", "1") // too late for the snapshot
	eventually(t, "the stream flows", func() bool { return do(t, replica, "GET", "flowing").Text() == "1" })

	link.Freeze()
	do(t, master, "SET", "frozen", "1")
	if n, _ := do(t, master, "WAIT", "1", "50").Int(); n != 0 {
		t.Error("a write crossed a frozen link")
	}
	link.Thaw()
	eventually(t, "the kept write arrives", func() bool { return do(t, replica, "GET", "frozen").Text() == "1" })

	link.Cut()
	do(t, master, "SET", "lost", "1")
	if n, _ := do(t, master, "WAIT", "1", "50").Int(); n != 0 {
		t.Error("a write crossed a cut link")
	}
	if !do(t, replica, "GET", "lost").Null {
		t.Error("the replica has a write made behind the cut")
	}
	link.Heal()
	eventually(t, "the replica catches up", func() bool { return do(t, replica, "GET", "lost").Text() == "1" })
}

func TestRedisLostReply(t *testing.T) {
	addr := redisServer(t)
	link := linkTo("A", "n1", addr)
	h := link.DropReply(Match{Names: []string{"SET"}}, CloseConn)
	c := dialRedis(t, listen(t, link))
	_, err := c.Do(t.Context(), "SET", "k", "v", "NX")
	<-h.Seen()
	if err == nil || errors.Is(err, ErrProtocol) {
		t.Errorf("SET: %v, want a lost connection", err)
	}
	if got := do(t, dialRedis(t, addr), "GET", "k").Text(); got != "v" {
		t.Errorf("GET k = %q: the node did not execute SET", got)
	}
}
