package choosing

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/scenarios"
)

// TestLocks compares docs/locks.md with the catalogue. With -update it writes it.
func TestLocks(t *testing.T) {
	asWritten(t, filepath.Join(root, "docs", "locks.md"), document())
}

const preface = `<!-- Written by make docs from the Specs in locks and internal/libraries. Do not edit. -->

# The locks

Every lock is a full implementation over go-redis, faithful to its source, bugs included. The
sound ones hold under the assumption that is named; the others are kept because the pitfalls
that are named break them. A lock's name leads to the commands that it sends, as seen on the
wire; the comment at its constructor, in ` + "`locks`" + ` or for real libraries in ` + "`internal/libraries`" + `, tells more.

[Sources](sources.md): A to E are five articles on Redis locks, by section; R is the Redis documentation, K
is Kleppmann 2016. Commands are those of acquire; those of release. Nodes are independent
masters + replicas of the first.

Capabilities beyond acquire and release: *extend* (a lease can be prolonged), *renew* (it is
prolonged in the background, and its loss is told), *reenter* (the holder may acquire again),
*share* (readers share, writers exclude), *notify* (waiters are told of a release), *wait*
(its source waits while the lock is taken), *fence* (leases carry tokens that only go up).

| lock | commands | from | capabilities | nodes | sound if, broken by |
|---|---|---|---|---|---|
`

func document() string {
	var b strings.Builder
	b.WriteString(preface)
	for _, s := range libraries.Catalogue() {
		var pitfalls []string
		for _, p := range scenarios.All() {
			if p.Breaks(s, libraries.Catalogue()) {
				pitfalls = append(pitfalls, p.ID)
			}
		}
		verdict := "broken by " + strings.Join(pitfalls, ", ")
		switch {
		case s.Sound:
			verdict = "**sound** if " + s.Assumption
		case len(pitfalls) == 0:
			verdict = "broken by [what a search finds](explored.md)"
		}
		for _, c := range s.Commands {
			verdict += "; needs " + c.String()
		}
		nodes := fmt.Sprint(s.Masters)
		if s.Replicas > 0 {
			nodes += fmt.Sprintf(" + %d", s.Replicas)
		}
		fmt.Fprintf(&b, "| [`%s`](../locks/testdata/protocol/%s.golden) | %s | %s | %s | %s | %s |\n",
			s.Name, s.Name, cell(s.Title), cell(s.Source), strings.Join(s.Capabilities(), ", "), nodes, cell(verdict))
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
