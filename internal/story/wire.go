package story

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Register is the node of the protected register, which is no server of the lock.
const Register = "register"

// Section reports whether f is a call upon the protected register.
func Section(f histories.F) bool {
	switch f {
	case histories.Read, histories.Write, histories.Incr, histories.Draw:
		return true
	}
	return false
}

// Setup reports whether a command belongs to opening a connection and not to the lock.
func Setup(x histories.Exchange) bool {
	return strings.HasPrefix(x.Command, "HELLO ") || strings.HasPrefix(x.Command, "CLIENT ") || strings.HasPrefix(x.Command, "AUTH ")
}

// sentBy are the places of exchanges by their clients, without those that belong to opening a connection.
func sentBy(exchanges []histories.Exchange) map[string][]int {
	by := map[string][]int{}
	for i, x := range exchanges {
		if !Setup(x) {
			by[x.Client] = append(by[x.Client], i)
		}
	}
	for _, all := range by {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(exchanges[a].Sent, exchanges[b].Sent) })
	}
	return by
}

// Sent are the commands that a call may have sent, by their places among the exchanges and in the order in which they were sent: its
// client sent them while it was under way, they do not name another of the run's keys than the call's, and they do not belong to
// opening a connection.
func (s *Story) Sent(o histories.Op) []int {
	all := s.sentBy()[histories.WorkerName(o.Invoke.Worker)]
	first, _ := slices.BinarySearchFunc(all, o.Invoke.Time, func(i int, t time.Duration) int { return cmp.Compare(s.Exchanges[i].Sent, t) })
	var sent []int
	for _, i := range all[first:] {
		x := s.Exchanges[i]
		if o.Done && x.Sent >= o.Complete.Time {
			break
		}
		if s.sent(o, x) {
			sent = append(sent, i)
		}
	}
	return sent
}

func (s *Story) sent(o histories.Op, x histories.Exchange) bool {
	if x.Sent < o.Invoke.Time || o.Done && x.Sent >= o.Complete.Time {
		return false
	}
	keys, other := s.Keys(), false
	for word := range strings.FieldsSeq(x.Command) {
		if word == o.Invoke.Key {
			return true
		}
		other = other || keys[word]
	}
	return !other
}

// Unasked are the commands to the lock's servers between two times that no call of their client sent, such as renewals, in the order
// in which they were sent.
func (s *Story) Unasked(from, to time.Duration) []histories.Exchange {
	calls := map[string][]histories.Op{}
	for _, o := range s.Operations() {
		if !o.Fault() && o.Invoke.Time <= to && (!o.Done || o.Complete.Time >= from) {
			who := histories.WorkerName(o.Invoke.Worker)
			calls[who] = append(calls[who], o)
		}
	}
	var found []histories.Exchange
	for _, x := range s.Exchanges {
		if x.Node == Register || x.Sent < from || x.Sent > to || Setup(x) {
			continue
		}
		if !slices.ContainsFunc(calls[x.Client], func(o histories.Op) bool { return s.sent(o, x) }) {
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(a, b histories.Exchange) int { return cmp.Compare(a.Sent, b.Sent) })
	return found
}

// A Fate is how far a command and its reply have come.
type Fate uint8

// The fates of commands.
const (
	Answered  Fate = iota
	Waiting        // on its way, or executed and the reply on its way
	Held           // before the server saw it
	ReplyHeld      // executed, and the reply is held
	LetGo          // it, or its reply, had been held, and has been answered since
	Lost           // the client will never get a reply
)

// FateOf returns what has become of a command.
func FateOf(x histories.Exchange) Fate {
	switch {
	case x.Note == histories.CommandDropped, x.Note == histories.ReplyDropped:
		return Lost
	case x.Replied > 0 && (x.Note == histories.CommandLetGo || x.Note == histories.ReplyLetGo):
		return LetGo
	case x.Replied > 0:
		return Answered
	case x.Note == histories.CommandHeld:
		return Held
	case x.Note == histories.ReplyHeld:
		return ReplyHeld
	}
	return Waiting
}
