package report

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
)

// Tell says what an event is, in the words of the timeline. Of a fault that began and ended at
// once, brief asks for the end to be told as the whole.
func Tell(e histories.Event, brief bool, in language.Language) string {
	in = tongue(e, in)
	switch {
	case e.Process == histories.Nemesis && !e.Single():
		return fault(e, e.Type != histories.Invoke && !brief)
	case e.Type == histories.Invoke:
		return begins(e, in)
	case e.Single():
		return single(e, in)
	}
	return ends(e, in)
}

// Wire tells an exchange: where the command went, the command, and what came back.
func Wire(x histories.Exchange, in language.Language) string {
	line := show(x.Node) + ": " + show(x.Command)
	if reply := answer(x, forever, in); reply != "" {
		line += "  " + show(reply)
	}
	return line
}

// Setup reports whether a command belongs to opening a connection and not to the lock.
func Setup(x histories.Exchange) bool { return setup(x.Command) }

// Sent reports whether a call may have sent a command that its client sent: it was under way, and
// the command does not name another of keys than the call's.
func Sent(o histories.Op, x histories.Exchange, keys map[string]bool) bool { return sent(o, x, keys) }

// Keys are those that a history names.
func Keys(history []histories.Event) map[string]bool { return keysOf(history) }

// Show makes a name from outside harmless, and short enough for a line.
func Show(s string) string { return show(s) }

// Register is the node of the protected register.
const Register = register

// Section reports whether f is a call upon the protected register.
func Section(f histories.F) bool {
	return slices.Contains([]histories.F{histories.Read, histories.Write, histories.Incr, histories.Draw}, f)
}
