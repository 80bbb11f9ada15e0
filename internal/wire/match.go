package wire

import (
	"slices"
	"strings"
)

// Match says which command a rule is about. The zero value matches the first
// command of any name and key.
type Match struct {
	Names    []string // any of these, in any case; empty: every name
	Keys     []string // one of the command's keys is one of these; empty: every key
	Database int      // that Keys are in
	Nth      int      // the n-th match since the rule was set; 0 and 1: the first
	// Before is asked of a command that fits in all of that, just before the node sees it. False
	// lets it pass, and the rule waits for another. Optional. It may ask the node, past the link.
	Before func(Command) bool
	// Effect is asked at the same time, of rules about replies alone. What it returns is asked
	// when the reply has arrived, before it goes on: false lets the reply pass, and the rule
	// waits for another command. Optional.
	Effect func(Command) (had func() bool)
}

// covers compares name and keys; counting is the rule's work.
func (m Match) covers(c *Command) bool {
	if len(m.Keys) > 0 && !c.On(m.Database, m.Keys) {
		return false
	}
	return len(m.Names) == 0 || slices.ContainsFunc(m.Names, func(n string) bool { return strings.EqualFold(n, c.Name) })
}
