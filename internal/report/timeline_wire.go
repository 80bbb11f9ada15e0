package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// wire tells the commands that an op sent, and their replies. A reply that came after
// the instant told, at which the timeline goes on, is told with its time.
func (t *teller) wire(o histories.Op, told time.Duration) []string {
	type group struct {
		command, reply string
		nodes          []string
	}
	var own []histories.Exchange
	for _, i := range t.story.Sent(o) {
		x := t.story.Exchanges[i]
		if story.Section(o.Invoke.F) && x.Node != story.Register && !strings.HasPrefix(x.Command, "GET") {
			continue
		}
		own = append(own, x)
	}
	if len(own) > manyCommands {
		told = forever // so that the same replies are told once
	}
	var groups []group
	for _, x := range own {
		reply := answer(x, told, t.in)
		at := slices.IndexFunc(groups, func(g group) bool { return g.command == x.Command && g.reply == reply })
		if at < 0 {
			groups = append(groups, group{x.Command, reply, nil})
			at = len(groups) - 1
		}
		groups[at].nodes = append(groups[at].nodes, x.Node)
	}
	var lines []string
	shown := 0
	for i, g := range groups {
		if i == manyCommands {
			lines = append(lines, t.in.Sayf("→ … and %d commands more", len(own)-shown))
			break
		}
		slices.Sort(g.nodes)
		sent := len(g.nodes)
		shown += sent
		if len(own) > manyCommands {
			g.nodes = slices.Compact(g.nodes)
		}
		line := fmt.Sprintf("→ %s: %s", show(strings.Join(g.nodes, " ")), show(g.command))
		if g.reply != "" {
			line += "  " + show(g.reply)
		}
		if sent > len(g.nodes) {
			line += t.in.Sayf(", %d times", sent)
		}
		lines = append(lines, line)
	}
	return lines
}

// manyCommands is how many commands of one call are told one by one.
const manyCommands = 10

// answer tells the reply, and what happened to command and reply on their way.
func answer(x histories.Exchange, told time.Duration, in language.Language) string {
	reply := x.Reply
	if reply != "" && x.Replied > told {
		reply += in.Sayf(" at %s", words.Instant(x.Replied))
	}
	if x.Note != "" {
		reply = strings.TrimSuffix(in.Say(x.Note)+": "+reply, ": ")
	}
	return reply
}
