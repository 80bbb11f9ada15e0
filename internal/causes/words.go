package causes

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// cause makes a cause that rests on some effects, the decisive one first, and on events.
func (s *scene) cause(kind checker.CauseKind, sentence string, on []*effect, events ...int) *checker.Cause {
	c := &checker.Cause{Kind: kind, Sentence: sentence}
	for _, e := range on {
		c.Commands = append(c.Commands, s.command(e))
		if o := e.call.op; o != nil {
			events = append(events, last(o))
		}
	}
	slices.Sort(events)
	c.Events = slices.Compact(events)
	return c
}

// last is the event by which a call is told: its end or, if it has none, its beginning.
func last(o *histories.Op) int {
	if o.Done {
		return o.Complete.Index
	}
	return o.Invoke.Index
}

func (s *scene) command(e *effect) checker.CauseCommand {
	c := s.shown(e.Exchange)
	c.Key, c.Did = e.Key, e.Kind.String()
	return c
}

// shown is a command that is shown for its reply alone.
func (s *scene) shown(exchange int) checker.CauseCommand {
	x := s.Exchanges[exchange]
	reply := x.Reply
	if reply == "" {
		reply = x.Answer
	}
	return checker.CauseCommand{Exchange: exchange, Client: x.Client, Node: x.Node, Command: x.Command, Reply: reply}
}

// quote is a command and its reply: of one that was queued, that of its EXEC.
func (s *scene) quote(e *effect) string {
	c := s.shown(e.Exchange)
	if c.Reply == "QUEUED" {
		x := s.Exchanges[e.Exchange]
		for _, next := range s.Exchanges[e.Exchange+1:] {
			if next.Client == x.Client && next.Node == x.Node && next.Conn == x.Conn && next.Command == "EXEC" {
				return x.Command + ", EXEC → " + next.Reply
			}
		}
	}
	return quoted(c)
}

func quoted(c checker.CauseCommand) string {
	if c.Reply == "" {
		return c.Command
	}
	return c.Command + " → " + c.Reply
}

// who is the client of a command.
func (s *scene) who(e *effect) string {
	if h := e.call.hold; h != nil {
		return histories.WorkerName(h.Worker)
	}
	if o := e.call.op; o != nil {
		return histories.WorkerName(o.Invoke.Worker)
	}
	return s.Exchanges[e.Exchange].Client
}

// callName is who sent a command for what: "A's release", or "a command that A sent in the background".
func (s *scene) callName(e *effect) string {
	if o := e.call.op; o != nil {
		return s.who(e) + "'s " + string(o.Invoke.F)
	}
	if e.call.beside != nil {
		return "a command that " + s.who(e) + " sent during its release"
	}
	return "a command that " + s.who(e) + " sent in the background"
}

// when is a command's place in the run: its call's event or, if it has none, its time.
func (s *scene) when(e *effect) string {
	if o := e.call.op; o != nil {
		return fmt.Sprintf("at event %d", last(o))
	}
	return "at " + words.Seconds(s.Exchanges[e.Exchange].Sent)
}

// begin makes the first letter of a sentence a capital.
func begin(s string) string {
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
