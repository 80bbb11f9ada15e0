package wire

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"
)

// TestCommands checks that commands are counted, whoever watches and however long they are,
// on the link and on each connection.
func TestCommands(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		a, _ := r.connect()
		for range 3 {
			a.send("PING")
			a.receive(pong)
		}
		go a.send("SET", "k", strings.Repeat("v", 3*bufferSize)) // net.Pipe: it is read in parts
		a.receive(ok)
		r.link.Observe(func(Event) {})
		b, _ := r.connect()
		b.send("PING")
		b.receive(pong)
		if n := r.link.Commands(); n != 5 {
			t.Errorf("%d commands, want 5", n)
		}
		if by := r.link.CommandsByConn(); !maps.Equal(by, map[int]int{1: 4, 2: 1}) {
			t.Errorf("by connection %v, want 4 and 1", by)
		}
	})
}

// TestMatched checks that a rule is seen to have found its command, also while the reply
// waits behind another.
func TestMatched(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		first, second := r.link.HoldReply(Match{}), r.link.HoldReply(Match{Nth: 2})
		if first.Matched() || second.Matched() {
			t.Fatal("a rule matched nothing")
		}
		c.send("PING")
		<-first.Seen()
		if !first.Matched() || second.Matched() {
			t.Errorf("matched: %v and %v, want the first alone", first.Matched(), second.Matched())
		}
		c.send("PING")
		r.executes("PING")
		r.executes("PING")
		if !second.Matched() || second.Holding() {
			t.Errorf("matched %v, holding %v: its reply is behind the first", second.Matched(), second.Holding())
		}
		first.Release()
		c.receive(pong)
		<-second.Seen()
		second.Release()
		c.receive(pong)
		if first.Matched() {
			t.Error("a rule that is over still has its command")
		}
	})
}

// TestWaiting checks that what a cut takes away waits for no thaw, also if its goroutines have
// not noticed yet.
func TestWaiting(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		c.send("PING")
		c.receive(pong)
		r.link.Freeze()
		c.send("PING")
		r.connect()
		synctest.Wait()
		if n := r.link.Waiting(); n != 2 {
			t.Errorf("%d connections wait, want 2", n)
		}
		r.link.Cut()
		if n := r.link.Thaw(); n != 0 {
			t.Errorf("%d connections that are cut were kept", n)
		}
	})
}
