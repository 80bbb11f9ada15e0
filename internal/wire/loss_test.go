package wire

import (
	"errors"
	"testing"
)

func TestLose(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		loss := r.link.Lose(func(c Command) bool { return c.Name == "SET" && c.Key() == "k" })
		lucky, _ := r.connect()
		for range 2 {
			c, served := r.connect()
			c.write(string(AppendCommand(AppendCommand(nil, "SET", "other", "v"), "SET", "k", "v")))
			c.receivesEndAfter(ok)
			if err := <-served; !errors.Is(err, ErrDropped) {
				t.Errorf("Serve: %v, want ErrDropped", err)
			}
			r.executes("SET other v")
			r.idle()
		}
		lucky.send("GET", "k")
		lucky.receive("$-1\r\n")
		r.executes("GET k")
		if n, first := loss.Seen(); n != 2 || first.String() != "SET k v" {
			t.Errorf("lost %d commands, the first %v", n, first)
		}
		loss.Stop()
		loss.Stop()
		lucky.send("SET", "k", "v")
		lucky.receive(ok)
		if n, _ := loss.Seen(); n != 2 {
			t.Errorf("lost %d commands", n)
		}
	})
}

// What is lost is seen, counts for no rule, and is not sent.
func TestLostCommandIsObserved(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		var got []string
		r.link.Observe(func(e Event) { got = append(got, e.Kind.String()+" "+e.Command.String()) })
		h := r.link.HoldRequest(Match{})
		r.link.Lose(func(c Command) bool { return c.Name == "SET" })
		c, served := r.connect()
		c.send("SET", "k", "v")
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrDropped) {
			t.Errorf("Serve: %v, want ErrDropped", err)
		}
		if len(got) != 1 || got[0] != "dropped SET k v" {
			t.Errorf("events %q", got)
		}
		select {
		case <-h.Seen():
			t.Error("a rule saw it")
		default:
		}
	})
}

// receivesEndAfter takes the end, and before it this reply if it got through in time.
func (c *client) receivesEndAfter(reply string) {
	c.t.Helper()
	for got := 0; ; got++ {
		b, err := c.r.ReadByte()
		if err != nil {
			return
		}
		if got >= len(reply) || b != reply[got] {
			c.t.Fatalf("got byte %q at %d, want %q and the end", b, got, reply)
		}
	}
}
