package schedule

import (
	"fmt"
	"strings"
)

// Sentence returns what happens in the step, in plain English, without a full stop.
func (p Step) Sentence() string {
	who := strings.Join(p.Who, ", ")
	switch p.Verb {
	case Acquire:
		return p.acquires(who)
	case At:
		return p.rules(who)
	case Wait:
		return p.waits(who)
	case Start:
		return p.starts(who)
	case Stop:
		return p.stops(who)
	case Lane:
		return p.lanes(who)
	case LetGo:
		if p.Free {
			return "what is held up of " + who + " goes on"
		}
		return "the held command of " + who + " goes on"
	case Sleep:
		return p.For.english() + " pass"
	case Set:
		return fmt.Sprintf("the first master is set to %s %d", p.What, p.N)
	case Audit:
		return "somebody looks at what the servers hold"
	}
	return p.calls(who)
}

// calls is the sentence of a client's call.
func (p Step) calls(who string) string {
	text := map[Verb]string{
		Reenter: who + " enters the lock again",
		Extend:  fmt.Sprintf("%s extends its lease by %s", who, p.For.english()),
		Verify:  who + " asks the lock whether it still holds it",
		Release: who + " releases",
		Read:    who + " reads the register",
		Write:   who + " writes the register",
		Draw:    fmt.Sprintf("%s draws round %d", who, p.N),
		Count:   who + " asks how often it holds the lock",
		Turn:    who + " waits for the lock, to read and write the register under it",
		Leave:   who + " walks away without a word",
		Hang:    who + " hangs in its section, for good",
		ComeAndGo: fmt.Sprintf("%s releases and tries to acquire at once, %d times",
			who, p.N),
		UseAgain: fmt.Sprintf("%s acquires and releases again and again, for %s", who, p.For.english()),
		Crowd:    who + " wait for the lock, each on a connection",
		Meet:     who + " acquire the lock as readers, in the same millisecond",
		Outlive: who + ": the first acquires the locks on all keys and outlives their leases; key by key the second acquires, " +
			"the first releases too late, the third tries to acquire, the second releases",
	}[p.Verb]
	switch {
	case p.Refused && p.Verb == Extend:
		text = fmt.Sprintf("%s extends by %s what it was refused", who, p.For.english())
	case p.Refused:
		text += " what it was refused"
	case p.Again:
		text += " again what it has released"
	case p.What == IfOver:
		text = who + " walks away if the lease that it was told of is over"
	case p.Verb == Reenter && p.For != nil:
		text += ", for " + p.For.english()
	}
	if p.OrLeave {
		text += ", and walks away unless it is told that it may"
	}
	if begun, ok := map[Verb]string{
		Release: who + " begins to release", Read: who + " begins to read the register", Write: who + " begins to write the register",
	}[p.Verb]; p.Free && ok {
		return begun
	}
	return text
}

func (p Step) acquires(who string) string {
	text := who + " tries to acquire the lock"
	if p.Free {
		text = who + " begins to acquire the lock"
	}
	if p.Eventually || p.Within != nil {
		text = who + " waits for the lock"
	}
	if p.Key > 0 {
		text += fmt.Sprintf(" on key %d", p.Key)
	}
	if p.What == Shared {
		text += " as a reader"
	}
	if p.What == WithoutTTL {
		text += ", and does not say for how long"
	}
	if p.For != nil {
		text += ", for " + p.For.english()
	}
	switch {
	case p.Within != nil:
		text += ", at most for " + p.Within.english()
	case p.Tries > 0:
		text += fmt.Sprintf(", up to %d times", p.Tries)
	case p.Retries > 0:
		text += ", again if the connection had broken"
	}
	if p.GivingUp != nil {
		text += ", and gives up after " + p.GivingUp.english()
	}
	return text
}

func (p Step) rules(who string) string {
	command := "the " + p.What + " of " + who
	switch p.What {
	case Takes:
		command = "the command with which " + who + " takes the lock"
	case Extends:
		command = "the command with which " + who + " extends its lease"
	case Frees:
		command = "the command with which " + who + " gives the lock back"
	case Looks:
		command = "the command with which " + who + " looks whose the lock is"
	case Script:
		command = "the script of " + who
	}
	if p.Nth > 1 {
		command = fmt.Sprintf("number %d of what fits: %s", p.Nth, command)
	}
	if p.Op > 0 {
		command += fmt.Sprintf(" in its call %d", p.Op)
	}
	if p.Reply {
		command = "the reply to " + command
	}
	if len(p.On) > 0 {
		command += " on " + servers(p.On)
	}
	switch p.Action {
	case Lose:
		return command + " will get lost"
	case Twice:
		return command + " will be sent again, as its reply gets lost"
	}
	return command + " will be held up"
}

func (p Step) waits(who string) string {
	switch p.What {
	case LeaseEnds:
		text := "the lease ends"
		if who != "" {
			text = "the lease of " + who + " ends"
		}
		if p.Key > 0 {
			text += fmt.Sprintf(" on key %d", p.Key)
		}
		if p.Within != nil {
			text += ", or " + p.Within.english() + " pass"
		}
		return text
	case LeaseAges:
		return fmt.Sprintf("%s of %s's lease pass", p.For.english(), who)
	case Done:
		if p.Op > 0 {
			return fmt.Sprintf("call %d of %s ends", p.Op, who)
		}
		if len(p.Who) == 1 {
			return who + "'s call ends"
		}
		return "the calls of " + who + " end"
	case Held:
		return "the command of " + who + ", or the reply to it, is held up"
	case Asked:
		return who + " has sent its command"
	case Sent:
		return who + "'s first command has been sent"
	case InSync:
		return "the replica is in sync"
	case RefusesWrites:
		return "the old master refuses writes for want of a replica"
	}
	return fmt.Sprintf("%s's leases on keys 1 to %d began together", who, p.Key)
}

// servers names servers as people do.
func servers(on []string) string {
	if len(on) == 0 {
		return "the first server"
	}
	switch {
	case len(on) > 1:
		return "servers " + strings.Join(on, ", ")
	case on[0] == All:
		return "all servers"
	case on[0] == Register:
		return "the register"
	case on[0] == "1":
		return "the first server"
	}
	return "server " + on[0]
}

// english is a span in words.
func (p *Span) english() string {
	if p == nil {
		return "a while"
	}
	var parts []string
	switch {
	case p.TTLs == 1:
		parts = append(parts, "a TTL")
	case p.TTLs != 0 || p.More == 0 && !p.Slack:
		parts = append(parts, fmt.Sprintf("%v TTLs", p.TTLs))
	}
	if p.More != 0 {
		parts = append(parts, p.More.String())
	}
	if p.Slack {
		parts = append(parts, "the slack")
	}
	return strings.Join(parts, " and ")
}

// lanes is the sentence of what a client does by itself.
func (p Step) lanes(who string) string {
	said := make([]string, len(p.Lane))
	for i, call := range p.Lane {
		said[i] = strings.TrimPrefix(call.Sentence(), who+" ")
		if call.After != nil {
			said[i] += " (after call " + call.After.String() + ")"
		}
	}
	return who + " by itself: " + strings.Join(said, ", ")
}
