package wire

import (
	"slices"
	"strings"
)

// Match says which command a rule is about. The zero value matches the first
// command of any name and key.
type Match struct {
	Names []string // any of these, in any case; empty: every name
	Key   string   // the command's Key; "": every key
	Nth   int      // the n-th match since the rule was set; 0 and 1: the first
}

// covers compares name and key; counting is the rule's work.
func (m Match) covers(c *Command) bool {
	if m.Key != "" && m.Key != c.Key() {
		return false
	}
	return len(m.Names) == 0 || slices.ContainsFunc(m.Names, func(n string) bool { return strings.EqualFold(n, c.Name) })
}
