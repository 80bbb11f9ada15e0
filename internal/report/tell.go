package report

import (
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
		return begun(e, in)
	case e.Single():
		return single(e, in)
	}
	return ended(e, in)
}

// Wire tells an exchange: where the command went, the command, and what came back.
func Wire(x histories.Exchange, in language.Language) string {
	line := show(x.Node) + ": " + show(x.Command)
	if reply := answer(x, forever, in); reply != "" {
		line += "  " + show(reply)
	}
	return line
}

// Show makes a name from outside harmless, and short enough for a line.
func Show(s string) string { return show(s) }
