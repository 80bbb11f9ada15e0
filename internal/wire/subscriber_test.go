package wire

import (
	"errors"
	"testing"
)

func TestCutSubscribers(t *testing.T) {
	for _, command := range []string{"SUBSCRIBE", "psubscribe", "SSUBSCRIBE"} {
		t.Run(command, func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				other, _ := r.connect()
				other.send("PING")
				other.receive(pong)
				c, served := r.connect()
				c.send(command, "c")
				c.receive("+raw\r\n")
				c.write("a message")
				c.expect("a message")
				if n := r.link.CutSubscribers(); n != 1 {
					t.Errorf("closed %d connections, want 1", n)
				}
				c.receivesEnd()
				if err := <-served; !errors.Is(err, ErrCut) {
					t.Errorf("Serve: %v, want ErrCut", err)
				}
				for range 2 {
					again, served := r.connect()
					again.send("PING") // what does not subscribe lives
					again.receive(pong)
					again.send(command, "c")
					again.receivesEnd()
					if err := <-served; !errors.Is(err, ErrCut) {
						t.Errorf("Serve: %v, want ErrCut", err)
					}
				}
				other.send("PING")
				other.receive(pong)
				if n := r.link.HealSubscribers(); n != 2 {
					t.Errorf("refused %d connections, want 2", n)
				}
				c, _ = r.connect()
				c.send(command, "c")
				c.receive("+raw\r\n")
				if n := r.link.HealSubscribers(); n != 0 {
					t.Errorf("refused %d connections after healing", n)
				}
			})
		})
	}
}

// A connection that leaves matching for another reason is no subscriber.
func TestCutSubscribersSparesOthers(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		c.send("MONITOR")
		c.receive("+raw\r\n")
		if n := r.link.CutSubscribers(); n != 0 {
			t.Errorf("closed %d connections", n)
		}
		c.write("still here")
		c.expect("still here")
	})
}

func TestRefusedSubscriberIsObserved(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		var got []string
		r.link.Observe(func(e Event) { got = append(got, e.Kind.String()+" "+e.Command.String()) })
		r.link.CutSubscribers()
		c, served := r.connect()
		c.send("SUBSCRIBE", "c")
		c.receivesEnd()
		if err := <-served; !errors.Is(err, ErrCut) {
			t.Errorf("Serve: %v, want ErrCut", err)
		}
		if len(got) != 1 || got[0] != "dropped SUBSCRIBE c" {
			t.Errorf("events %q", got)
		}
	})
}
