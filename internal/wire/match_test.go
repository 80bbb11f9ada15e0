package wire

import (
	"slices"
	"sync"
	"testing"
)

// asked notes of which commands a rule was asked.
type asked struct {
	mu    sync.Mutex
	names []string
}

func (a *asked) note(c Command) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, c.Name)
}

func (a *asked) want(t *testing.T, names ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.names, names) {
		t.Errorf("asked of %v, want %v", a.names, names)
	}
}

// TestBefore checks that a rule passes the commands that its Before refuses, counts none of them,
// and is asked of no command that does not fit otherwise, before the node sees it.
func TestBefore(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		var of asked
		hold := r.link.HoldRequest(Match{Keys: []string{"k"}, Nth: 2, Before: func(c Command) bool {
			of.note(c)
			return c.Name == "SET"
		}})
		c.send("GET", "k")
		c.receive("$-1\r\n")
		c.send("SET", "other", "v")
		c.receive(ok)
		c.send("SET", "k", "first")
		c.receive(ok)
		c.send("GET", "k")
		c.receive("$5\r\nfirst\r\n")
		of.want(t, "GET", "SET", "GET")
		for range 4 {
			<-r.node.executed
		}
		c.send("SET", "k", "second")
		<-hold.Seen()
		r.idle()
		if got := hold.Command().Args; !slices.Equal(got, []string{"k", "second"}) {
			t.Errorf("held %v, want the second SET of k", got)
		}
		hold.Release()
		c.receive(ok)
		c.send("SET", "k", "third") // the rule is over
		c.receive(ok)
		of.want(t, "GET", "SET", "GET", "SET")
	})
}

// TestEffect checks that a rule about replies acts on the command that had the effect, which is
// looked for when its reply has arrived.
func TestEffect(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		value := func() string {
			r.node.mu.Lock()
			defer r.node.mu.Unlock()
			return r.node.values["k"]
		}
		for name, rule := range map[string]func(Match) *Hold{
			"hold": r.link.HoldReply,
			"drop": func(m Match) *Hold { return r.link.DropReply(m, CloseConn) },
		} {
			c, _ := r.connect()
			var before, effect asked
			hold := rule(Match{
				Nth:    2,
				Before: func(c Command) bool { before.note(c); return c.Name != "GET" },
				Effect: func(c Command) func() bool {
					effect.note(c)
					old := value()
					return func() bool { return value() != old }
				},
			})
			c.send("GET", "k") // is not asked what it does
			if _, err := ReadReply(c.r); err != nil {
				t.Fatal(err)
			}
			c.send("PING") // does nothing
			c.receive(pong)
			c.send("SET", "k", name+" 1") // has the effect, for the first time
			c.receive(ok)
			c.send("SET", "k", name+" 1") // says the same again
			c.receive(ok)
			c.send("SET", "k", name+" 2")
			<-hold.Seen()
			if got := value(); got != name+" 2" {
				t.Errorf("%s: the node has %q: the reply was there before the command", name, got)
			}
			if got := hold.Command().Args; !slices.Equal(got, []string{"k", name + " 2"}) {
				t.Errorf("%s: held the reply of %v", name, got)
			}
			if name == "hold" {
				hold.Release()
				c.receive(ok)
			} else {
				c.receivesEnd()
			}
			before.want(t, "GET", "PING", "SET", "SET", "SET")
			effect.want(t, "PING", "SET", "SET", "SET")
		}
	})
}

// TestEffectOfReleasedRule checks that a rule which is given up while its command is with the node
// lets the reply pass.
func TestEffectOfReleasedRule(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c, _ := r.connect()
		var hold *Hold
		hold = r.link.HoldReply(Match{Effect: func(Command) func() bool {
			return func() bool { hold.Release(); return true }
		}})
		c.send("PING")
		c.receive(pong)
		if hold.Matched() || hold.Holding() {
			t.Error("a rule that was released has a command")
		}
	})
}
