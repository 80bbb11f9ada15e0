package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ok, pong = "+OK\r\n", "+PONG\r\n"

func TestForwardsUnchanged(t *testing.T) {
	replies := []string{
		"+OK\r\n", "-ERR no\r\n", ":-12\r\n", "$-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n", "*-1\r\n", "*0\r\n",
		"*2\r\n*1\r\n:1\r\n$1\r\nx\r\n", "_\r\n", ",3.25\r\n", ",inf\r\n", "#t\r\n", "!5\r\nERR x\r\n",
		"=6\r\ntxt:hi\r\n", "(123456789012345678901234567890\r\n", "%1\r\n+k\r\n:1\r\n", "~2\r\n:1\r\n:2\r\n",
		"|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n",
	}
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		for _, watched := range []bool{false, true} {
			if watched {
				r.link.Observe(func(Event) {})
			}
			for _, reply := range replies {
				c.send("REPLY", reply)
				c.receive(reply)
			}
			c.write("ping\r\n\r\n*0\r\nSET \"a b\" 'c'\r\n")
			c.receive(pong)
			c.receive(ok)
			c.send("GET", "a b")
			c.receive("$1\r\nc\r\n")
		}
	})
}

func TestPushIsNoReply(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		var events []Event
		r.link.Observe(func(e Event) { events = append(events, e) })
		c, _ := r.connect()
		push := ">2\r\n+invalidate\r\n*1\r\n+k\r\n"
		c.send("REPLY", push+":1\r\n"+push)
		c.receive(push)
		c.receive(":1\r\n")
		c.receive(push)
		c.send("PING")
		c.receive(pong)
		var got []string
		for _, e := range events {
			if e.Kind == Replied {
				got = append(got, e.Command.Name+" "+e.Reply)
			}
		}
		if diff := cmp.Diff([]string{"REPLY 1", "PING PONG"}, got); diff != "" {
			t.Errorf("replies (-want +got):\n%s", diff)
		}
	})
}

// A node may speak unasked: too many clients, a time-out.
func TestUnsolicitedReply(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		c.send("REPLY", ":1\r\n:2\r\n")
		c.receive(":1\r\n")
		c.receive(":2\r\n")
		c.send("PING")
		c.receive(pong)
	})
}

func TestLargeValues(t *testing.T) {
	value := strings.Repeat("0123456789abcdef", 200_000)
	everywhere(t, func(t *testing.T, r *rig) {
		for _, watched := range []bool{false, true} {
			if watched {
				r.link.Observe(func(Event) {})
			}
			c, _ := r.connect()
			go func() { // net.Pipe: reading and writing must go on together
				_, _ = c.Write(AppendCommand(AppendCommand(AppendCommand(nil, "SET", "k", value), "GET", "k"), "PING"))
			}()
			c.receive(ok)
			c.receive(string(appendBulk(nil, '$', value)))
			c.receive(pong)
		}
	})
}

func TestPipelineKeepsOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		const n = 3000
		go func() {
			var b []byte
			for range n {
				b = AppendCommand(AppendCommand(b, "PING"), "SET", "k", "v")
			}
			_, _ = c.Write(b)
		}()
		for range n {
			c.receive(pong)
			c.receive(ok)
		}
	})
}

func TestHoldRequest(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldRequest(Match{Names: []string{"set"}, Keys: []string{"k"}})
		c, _ := r.connect()
		c.write(string(AppendCommand(AppendCommand(AppendCommand(nil, "PING"), "SET", "k", "v"), "GET", "k")))
		c.receive(pong)
		<-h.Seen()
		r.executes("PING")
		r.idle()
		want := Command{Name: "SET", Args: []string{"k", "v"}, Conn: 1, Seq: 2}
		if diff := cmp.Diff(want, h.Command()); diff != "" {
			t.Errorf("held command (-want +got):\n%s", diff)
		}
		other, _ := r.connect() // another connection is not stopped
		other.send("SET", "k", "w")
		other.receive(ok)
		r.executes("SET k w")
		h.Release()
		h.Release()
		h.Drop()
		c.receive(ok)
		c.receive("$1\r\nv\r\n")
		c.send("SET", "k", "x") // a rule fires once
		c.receive(ok)
	})
}

func TestHeldRequestLandsAfterClientIsGone(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldRequest(Match{Names: []string{"SET"}})
		c, served := r.connect()
		c.write(string(AppendCommand(AppendCommand(nil, "SET", "k", "late"), "SET", "l", "later")))
		<-h.Seen()
		c.Close()
		r.idle()
		h.Release()
		r.executes("SET k late")
		r.executes("SET l later")
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// The replies to a client that has gone must be taken off the node all the same:
// over net.Pipe it would stop working when nobody reads them.
func TestEverythingSentLandsAfterClientIsGone(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldRequest(Match{Names: []string{"SET"}})
		c, served := r.connect()
		const n = 1000
		c.write(string(AppendCommand(nil, "SET", "k", "late")) + strings.Repeat("PING\r\n", n))
		<-h.Seen()
		c.Close()
		h.Release()
		r.executes("SET k late")
		for range n {
			r.executes("PING")
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestDropRequest(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldRequest(Match{})
		c, served := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		h.Drop()
		h.Release()
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrDropped) {
			t.Errorf("Serve: %v, want ErrDropped", err)
		}
		r.idle()
	})
}

func TestCutDiscardsHeldRequest(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		var kinds []Kind
		r.link.Observe(func(e Event) { kinds = append(kinds, e.Kind) })
		h := r.link.HoldRequest(Match{})
		c, served := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		r.link.Cut()
		h.Release()
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrCut) {
			t.Errorf("Serve: %v, want ErrCut", err)
		}
		if diff := cmp.Diff([]Kind{Held, Dropped}, kinds); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		r.idle()
	})
}

func TestNodeEndDiscardsHeldRequest(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldRequest(Match{Names: []string{"SET"}})
		c, served := r.connect()
		c.write(string(AppendCommand(AppendCommand(nil, "QUIT"), "SET", "k", "v")))
		c.receive(ok)
		c.receivesEnd()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		h.Release()
		r.executes("QUIT")
		r.idle()
	})
}

func TestHoldReply(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldReply(Match{Names: []string{"SET"}})
		c, _ := r.connect()
		c.write(string(AppendCommand(AppendCommand(AppendCommand(nil, "PING"), "SET", "k", "v"), "PING")))
		c.receive(pong)
		r.executes("PING")
		r.executes("SET k v")
		<-h.Seen()
		other, _ := r.connect()
		other.send("GET", "k") // the node has executed it
		other.receive("$1\r\nv\r\n")
		h.Release()
		c.receive(ok)
		c.receive(pong)
	})
}

func TestHeldReplyToGoneClientIsDiscarded(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldReply(Match{})
		c, served := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		c.Close()
		r.settle()
		h.Release()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestDropHeldReply(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.HoldReply(Match{})
		c, served := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		h.Drop()
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrDropped) {
			t.Errorf("Serve: %v, want ErrDropped", err)
		}
		r.executes("SET k v")
	})
}

func TestDropReplyClosing(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.DropReply(Match{Names: []string{"SET"}}, CloseConn)
		c, served := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrDropped) {
			t.Errorf("Serve: %v, want ErrDropped", err)
		}
		r.executes("SET k v")
		if h.Command().Key() != "k" {
			t.Errorf("dropped the reply of %v", h.Command())
		}
	})
}

func TestDropReplyHanging(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		var kinds []string
		r.link.Observe(func(e Event) { kinds = append(kinds, e.Kind.String()+" "+e.Command.Name) })
		h := r.link.DropReply(Match{Names: []string{"SET"}}, Hang)
		c, served := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		c.send("PING") // executed, but its reply would be taken for that of SET
		r.executes("SET k v")
		r.executes("PING")
		c.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if c.r.Buffered() > 0 {
			t.Error("a reply came through")
		}
		want := []string{"sent SET", "dropped SET", "sent PING", "dropped PING"}
		if diff := cmp.Diff(want, kinds); r.net.bubble && diff != "" { // over TCP the node may see the end before it answers
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestReleaseBeforeMatchDisarms(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		rules := []*Hold{
			r.link.HoldRequest(Match{}), r.link.HoldReply(Match{}),
			r.link.DropReply(Match{}, CloseConn), r.link.HoldRequest(Match{}),
		}
		for i, h := range rules {
			if i == 3 {
				h.Drop()
			}
			h.Release()
		}
		c, _ := r.connect()
		c.send("PING")
		c.receive(pong)
		for i, h := range rules {
			select {
			case <-h.Seen():
				t.Errorf("rule %d fired", i)
			default:
			}
		}
	})
}

// The reply rule has its command, but is released before the reply comes.
func TestReleaseBeforeReplyDisarms(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		h := r.link.DropReply(Match{}, CloseConn)
		r.link.Observe(func(e Event) {
			if e.Kind == Sent {
				h.Release()
			}
		})
		c, _ := r.connect()
		c.send("PING")
		c.receive(pong)
	})
}

func TestRulesCountMatches(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		second := r.link.HoldRequest(Match{Names: []string{"SET"}, Nth: 2})
		first := r.link.HoldRequest(Match{Names: []string{"GET", "SET"}})
		again := r.link.HoldRequest(Match{Names: []string{"SET"}}) // due with first, comes after it
		c, _ := r.connect()
		for i, h := range []*Hold{first, second, again} {
			c.send("SET", "k", "v")
			<-h.Seen()
			if h.Command().Seq != i+1 {
				t.Errorf("rule %d holds command %d, want %d", i+1, h.Command().Seq, i+1)
			}
			h.Release()
			c.receive(ok)
		}
	})
}

func TestRuleOnRequestAndReplyOfOneCommand(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		request := r.link.HoldRequest(Match{Names: []string{"SET"}})
		c, _ := r.connect()
		c.send("SET", "k", "v")
		<-request.Seen()
		reply := r.link.HoldReply(Match{Names: []string{"SET"}}) // armed while it waits
		request.Release()
		<-reply.Seen()
		reply.Release()
		c.receive(ok)
	})
}

func TestFreezeKeepsBytes(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, served := r.connect()
		c.send("PING")
		c.receive(pong)
		r.executes("PING")
		r.link.Freeze()
		r.link.Freeze()
		c.send("SET", "k", "late")
		c.Close() // a client that timed out
		r.idle()
		r.link.Thaw()
		r.link.Thaw()
		r.executes("SET k late")
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestFreezeOneWay(t *testing.T) {
	for _, d := range []Direction{Requests, Replies} {
		t.Run(map[Direction]string{Requests: "requests", Replies: "replies"}[d], func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				c, _ := r.connect()
				c.send("PING")
				c.receive(pong)
				r.executes("PING")
				r.link.FreezeOneWay(d)
				c.send("SET", "k", "v")
				if d == Replies {
					r.executes("SET k v")
				}
				r.idle()
				late, _ := r.connect()
				go late.send("PING") // net.Pipe: nobody reads yet
				r.idle()
				r.link.Thaw()
				c.receive(ok)
				late.receive(pong)
			})
		})
	}
}

func TestFreezeMakesNewConnectionsWait(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		r.link.Freeze()
		c, _ := r.connect()
		go c.send("PING") // net.Pipe: nobody reads yet
		r.idle()
		r.link.Thaw()
		c.receive(pong)
	})
}

// What is read but not forwarded stops too: the observer freezes the link
// between the two.
func TestFreezeStopsWhatIsRead(t *testing.T) {
	for _, kind := range []Kind{Sent, Replied} {
		t.Run(kind.String(), func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				frozen := make(chan struct{})
				r.link.Observe(func(e Event) {
					if e.Kind == kind && e.Command.Name == "SET" {
						r.link.Freeze()
						close(frozen)
					}
				})
				c, _ := r.connect()
				c.send("PING")
				c.receive(pong)
				c.send("SET", "k", "v")
				<-frozen
				r.executes("PING")
				if kind == Replied {
					r.executes("SET k v")
				}
				r.idle()
				r.link.Thaw()
				c.receive(ok)
			})
		})
	}
}

func TestReleaseWhileFrozenWaitsForThaw(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		sent := make(chan struct{})
		r.link.Observe(func(e Event) {
			if e.Kind == Sent {
				close(sent)
			}
		})
		h := r.link.HoldRequest(Match{})
		c, _ := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		r.link.Freeze()
		h.Release()
		r.idle()
		select {
		case <-sent:
			t.Error("sent while frozen")
		default:
		}
		r.link.Thaw()
		c.receive(ok)
	})
}

// Cut during Freeze discards what is kept. The link stays frozen: after Heal new
// connections wait for Thaw.
func TestCutDuringFreeze(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, served := r.connect()
		c.send("PING")
		c.receive(pong)
		r.executes("PING")
		r.link.Freeze()
		c.send("SET", "k", "lost")
		waiting, refused := r.connect()
		r.settle()
		r.link.Cut()
		c.receivesEnd()
		waiting.receivesEnd()
		for _, end := range []<-chan error{served, refused} {
			if err := <-end; !errors.Is(err, ErrCut) {
				t.Errorf("Serve: %v, want ErrCut", err)
			}
		}
		r.link.Heal()
		c, _ = r.connect()
		go c.send("PING")
		r.idle()
		r.link.Thaw()
		c.receive(pong)
		r.executes("PING")
		r.idle()
	})
}

func TestCutRefuses(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		r.link.Cut()
		c, served := r.connect()
		c.receivesEnd()
		err := <-served
		if !errors.Is(err, ErrCut) || !strings.Contains(err.Error(), "A→n1") {
			t.Errorf("Serve: %v, want ErrCut on A→n1", err)
		}
		r.link.Heal()
		c, _ = r.connect()
		c.send("PING")
		c.receive(pong)
	})
}

func TestRawMode(t *testing.T) {
	commands := []string{
		"SUBSCRIBE c", "psubscribe c", "SSUBSCRIBE c", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR",
		"SYNC", "PSYNC ? -1", "CLIENT REPLY OFF", "CLIENT REPLY SKIP",
	}
	const noise = "*not RESP\r\n$"
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				var kinds []string
				r.link.Observe(func(e Event) { kinds = append(kinds, e.Kind.String()+" "+e.Command.Name) })
				held := r.link.HoldReply(Match{Names: []string{"PING"}})
				c, served := r.connect()
				// The PING before is still matched; the bytes behind are raw.
				c.write("PING\r\n" + command + "\r\n" + noise)
				<-held.Seen()
				held.Release()
				c.receive(pong)
				if !strings.HasPrefix(command, "CLIENT") {
					c.receive("+raw\r\n")
				}
				c.expect(noise)
				r.executes("PING")
				r.executes(command)

				r.link.Freeze()
				go c.write("kept")
				r.idle()
				r.link.Thaw()
				c.expect("kept")
				r.link.Cut()
				c.receivesEnd()
				if err := <-served; !errors.Is(err, ErrCut) {
					t.Errorf("Serve: %v, want ErrCut", err)
				}
				name := strings.ToUpper(strings.Fields(command)[0])
				want := []string{"sent PING", "held PING", "released PING", "replied PING", "sent " + name}
				if diff := cmp.Diff(sorted(want), sorted(kinds)); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRawModeUnwatched(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		// A command longer than the buffer is sent on in parts and must still be known.
		c, served := r.connect()
		go c.write("*2\r\n$9\r\nSUBSCRIBE\r\n$40000\r\n" + strings.Repeat("c", 40000) + "\r\n" + "*x")
		c.receive("+raw\r\n")
		c.expect("*x")
		c.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestProtocolErrors(t *testing.T) {
	tests := []struct{ name, send, want string }{
		{"count", "*x\r\n", "from the client"},
		{"argument", "*1\r\n+PING\r\n", "from the client"},
		{"negative argument", "*1\r\n$-1\r\n", "from the client"},
		{"argument end", "*1\r\n$1\r\nabc", "from the client"},
		{"quote", "SET \"a\r\n", "from the client"},
		{"endless inline", strings.Repeat("x", maxLine+1), "from the client"},
		{"node type", string(AppendCommand(nil, "REPLY", "?\r\n")), "from the node"},
		{"node length", string(AppendCommand(nil, "REPLY", "$1x\r\n")), "from the node"},
		{"node line", string(AppendCommand(nil, "REPLY", "+OK\n")), "from the node"},
		{"node bulk end", string(AppendCommand(nil, "REPLY", "$1\r\nabc")), "from the node"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				c, served := r.connect()
				go func() { _, _ = io.WriteString(c, tt.send) }()
				err := <-served
				if !errors.Is(err, ErrProtocol) {
					t.Fatalf("Serve: %v, want ErrProtocol", err)
				}
				for _, want := range []string{"A→n1", "connection 1", tt.want} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %q does not say %q", err, want)
					}
				}
				c.receivesEnd()
			})
		})
	}
}

func TestContextEndsServe(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancelCause(r.ctx)
		r.ctx = ctx
		h := r.link.HoldRequest(Match{Names: []string{"SET"}})
		c, served := r.connect()
		c.send("SET", "k", "v")
		<-h.Seen()
		stop := errors.New("enough")
		cancel(stop)
		if err := <-served; !errors.Is(err, stop) {
			t.Errorf("Serve: %v, want the cause", err)
		}
		c.receivesEnd()
		r.idle()
	})
}

func TestCloseEndsEverything(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		held := r.link.HoldRequest(Match{Names: []string{"SET"}})
		a, servedA := r.connect()
		a.send("SET", "k", "v")
		<-held.Seen()
		_, servedB := r.connect()
		r.link.Close()
		_, servedC := r.connect()
		for _, served := range []<-chan error{servedA, servedB, servedC} {
			if err := <-served; !errors.Is(err, ErrClosed) {
				t.Errorf("Serve: %v, want ErrClosed", err)
			}
		}
		held.Release()
		r.idle()
	})
}

// slowToClose closes once it is told to.
type slowToClose struct {
	net.Conn
	told chan struct{}
}

func (c slowToClose) Close() error {
	<-c.told
	return c.Conn.Close()
}

func TestServeReturnsWhenClosed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, r *rig) {
		r.link.Freeze() // no goroutine of the connection waits for its end by reading
		_, far := r.net.pair(t)
		slow := slowToClose{far, make(chan struct{})}
		served := make(chan error, 1)
		r.wg.Go(func() { served <- r.link.Serve(r.ctx, slow) })
		synctest.Wait()
		r.wg.Go(func() { r.link.Cut() })
		synctest.Wait()
		select {
		case err := <-served:
			t.Errorf("Serve returned %v before its connection was closed", err)
		default:
		}
		close(slow.told)
		if err := <-served; !errors.Is(err, ErrCut) {
			t.Errorf("Serve: %v, want ErrCut", err)
		}
	})
}

func TestFailedDial(t *testing.T) {
	refused := errors.New("nobody there")
	link := NewLink("A", "n1", func(context.Context) (net.Conn, error) { return nil, refused })
	near, far := memoryPipe(false)
	if err := link.Serve(t.Context(), far); !errors.Is(err, refused) {
		t.Errorf("Serve: %v, want the dial's error", err)
	}
	if _, err := near.Read(make([]byte, 1)); err == nil {
		t.Error("the client's connection is open")
	}
}

func TestCutEndsDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := NewLink("A", "n1", func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, far := memoryPipe(false)
		served := make(chan error, 1)
		go func() { served <- link.Serve(t.Context(), far) }()
		synctest.Wait()
		link.Cut()
		if err := <-served; !errors.Is(err, ErrCut) {
			t.Errorf("Serve: %v, want ErrCut", err)
		}
	})
}

func TestClientHalfClose(t *testing.T) {
	for _, n := range networks {
		if n.name == "memory" || n.name == "net.Pipe" {
			continue // cannot be half-closed
		}
		t.Run(n.name, func(t *testing.T) {
			r := newRig(t, n)
			c, served := r.connect()
			c.write("PING\r\nSET k v\r\n")
			if err := c.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			c.receive(pong)
			c.receive(ok)
			c.receivesEnd()
			if err := <-served; err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		var got []string
		r.link.Observe(func(e Event) { got = append(got, e.Kind.String()+" "+e.Command.String()+" "+e.Reply) })
		request := r.link.HoldRequest(Match{Names: []string{"SET"}})
		reply := r.link.HoldReply(Match{Names: []string{"GET"}})
		c, _ := r.connect()
		c.send("SET", "k", "v")
		<-request.Seen()
		request.Release()
		c.receive(ok)
		c.send("GET", "k")
		<-reply.Seen()
		reply.Drop()
		c.receivesEnd()
		r.link.Close()
		want := []string{
			"held SET k v ", "released SET k v ", "sent SET k v ", "replied SET k v OK",
			"sent GET k ", "held GET k v", "dropped GET k v",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestObserverCutsAtSent(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		r.link.Observe(func(e Event) { r.link.Cut() })
		c, _ := r.connect()
		c.send("SET", "k", "v")
		c.receivesEnd()
		r.idle()
		r.link.Observe(nil)
		r.link.Heal()
		c, _ = r.connect()
		c.send("PING")
		c.receive(pong)
	})
}

// A client with a time-out gives up on a frozen link; virtual time passes while
// every goroutine of the link waits, and the write lands on Thaw.
func TestVirtualTime(t *testing.T) {
	for _, n := range networks[1:] {
		t.Run(n.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, n)
				start := time.Now()
				nc, served := r.connect()
				admin := NewConn(nc.Conn)
				if reply, err := admin.Do(t.Context(), "PING"); err != nil || reply.Text() != "PONG" {
					t.Fatalf("PING: %v %v", reply, err)
				}
				r.executes("PING")
				r.link.Freeze()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				if _, err := admin.Do(ctx, "SET", "k", "late"); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("SET: %v, want a time-out", err)
				}
				time.Sleep(time.Hour)
				r.idle()
				r.link.Thaw()
				r.executes("SET k late")
				if err := <-served; err != nil {
					t.Errorf("Serve: %v", err)
				}
				if took := time.Since(start); took != time.Hour+3*time.Second {
					t.Errorf("took %v of virtual time", took)
				}
			})
		})
	}
}
