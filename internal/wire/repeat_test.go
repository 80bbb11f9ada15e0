package wire

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRepeat(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		var got []string
		r.link.Observe(func(e Event) { got = append(got, e.Kind.String()+" "+e.Command.String()+" "+e.Reply) })
		rule := r.link.Repeat(Match{Names: []string{"COUNT"}, Keys: []string{"k"}})
		c, _ := r.connect()
		c.write(string(AppendCommand(AppendCommand(AppendCommand(nil, "PING"), "COUNT", "k"), "COUNT", "k")))
		c.receive(pong)
		c.receive(":2\r\n")
		c.receive(":3\r\n") // once
		<-rule.Done()
		rule.Stop()
		want := Repeated{Command: Command{Name: "COUNT", Args: []string{"k"}, Conn: 1, Seq: 2}, First: "1", Second: "2"}
		if diff := cmp.Diff(want, rule.Seen()); diff != "" {
			t.Errorf("seen (-want +got):\n%s", diff)
		}
		r.link.Close()
		if len(got) != 7 || got[2] != "executed COUNT k 1" && got[1] != "executed COUNT k 1" {
			t.Errorf("events %q", got)
		}
	})
}

// TestDatabase checks that a command is known by the database that its connection had selected
// when it came, and that a repeated one goes to that database.
func TestDatabase(t *testing.T) {
	addr := redisServer(t)
	link := NewLink("A", "node", func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	})
	t.Cleanup(link.Close)
	c := dialRedis(t, listen(t, link))
	do(t, c, "SELECT", "2") // before anybody watches
	lost := link.HoldReply(Match{Keys: []string{"k"}})
	defer lost.Release()
	twice := link.Repeat(Match{Keys: []string{"k"}, Database: 2})
	do(t, c, "INCR", "k")
	if got := twice.Seen(); got.First != "1" || got.Second != "2" || got.Command.Database != 2 {
		t.Errorf("in database 2: %+v, want 1 and then 2", got)
	}
	if lost.Matched() {
		t.Errorf("a rule on database 0 caught %v", lost.Command())
	}
	do(t, c, "SELECT", "0")
	lost.Release()
	twice = link.Repeat(Match{Keys: []string{"k"}, Database: 2})
	if do(t, c, "INCR", "k"); twice.Seen().Command.Name != "" {
		t.Error("a rule on database 2 caught a command on database 0")
	}
}

func TestRepeatStopped(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		rule := r.link.Repeat(Match{})
		rule.Stop()
		c, _ := r.connect()
		c.send("COUNT", "k")
		c.receive(":1\r\n")
		if diff := cmp.Diff(Repeated{}, rule.Seen()); diff != "" {
			t.Errorf("seen (-want +got):\n%s", diff)
		}
	})
}

// A first try that fails is told, and the client's own goes on.
func TestRepeatWithoutConnection(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		boom := errors.New("boom")
		dial := r.link.dial
		r.link.dial = func(ctx context.Context) (net.Conn, error) {
			if ConnNumber(ctx) > 1 {
				return nil, boom
			}
			return dial(ctx)
		}
		rule := r.link.Repeat(Match{})
		c, _ := r.connect()
		c.send("COUNT", "k")
		c.receive(":1\r\n")
		if got := rule.Seen(); !errors.Is(got.Err, boom) || got.First != "" || got.Second != "1" {
			t.Errorf("seen %+v", got)
		}
		select {
		case <-rule.Done():
			t.Error("done, with one reply")
		default:
		}
	})
}

// The end of the connection ends a first try without an answer.
func TestRepeatEndsWithItsConnection(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		rule := r.link.Repeat(Match{Names: []string{"REPLY"}})
		c, served := r.connect()
		c.send("REPLY", "") // the node says nothing
		r.executes("REPLY ")
		r.link.Cut()
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrCut) {
			t.Errorf("Serve: %v, want ErrCut", err)
		}
		r.idle()
		if got := rule.Seen(); got.Command.Name != "REPLY" || got.Err == nil {
			t.Errorf("seen %+v", got)
		}
	})
}

func TestRepeatSparesSubscribers(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		rule := r.link.Repeat(Match{})
		c, _ := r.connect()
		c.send("SUBSCRIBE", "c")
		c.receive("+raw\r\n")
		r.executes("SUBSCRIBE c")
		r.idle()
		if got := rule.Seen(); got.Command.Name != "" {
			t.Errorf("seen %+v", got)
		}
	})
}
