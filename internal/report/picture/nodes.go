package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// nodes draws what servers held, and the commands that they got.
func (b *builder) nodes() {
	if len(b.run.Exchanges) == 0 {
		b.left = append(b.left, b.in.Say("what the servers held is not known, as no commands were recorded"))
		return
	}
	for _, h := range follow(b.run.Exchanges, b.story.Operations(), audits(b.run.Events), b.story.Keys(), b.in) {
		b.held(h)
	}
	b.ticks()
	for _, l := range b.all {
		if l.kind != nodeLane {
			continue
		}
		for _, m := range l.marks {
			if m.f == "held" && strings.Contains(m.class, "script") {
				l.sub = b.in.Say("lock server, by what its scripts answered")
			}
		}
	}
}

// held draws a hold of a server.
func (b *builder) held(h *held) {
	to, end := h.to, h.end
	if end == "" {
		to = b.to
		if h.expires > 0 && h.expires <= b.run.Events[len(b.run.Events)-1].Time {
			to, end = h.expires, expired
		}
	}
	if h.from > b.to || to < b.from || h.from >= b.from && (!b.drawn[h.event] && (h.event >= 0 || len(b.events) > crowded) || !b.drawnClient(h.owner)) {
		return
	}
	l := b.node(h.node)
	m := &mark{row: holdRow, class: "held", from: b.clip(h.from), to: b.clip(to), event: h.event, last: -1, who: brief(h.owner, 24), key: keyName(h.key), f: "held"}
	m.short = brief(h.owner, 24)
	m.label = b.in.Sayf("%s for %s", brief(h.key, 28), brief(h.owner, 24))
	switch {
	case h.by != "" && h.by != h.owner:
		m.short += ", " + brief(b.in.Say(end), 30)
		m.label += ", " + brief(b.in.Say(end), 30)
	case end == expired:
		m.class += " expired"
		m.label += b.in.Say(", expired")
	}
	if h.since != "" {
		m.short += b.in.Say(", gone")
		m.label += b.in.Sayf(", gone since %s", h.since)
	}
	if h.unsure {
		m.class += " unsure"
		m.short += " ?"
		m.label += " ?"
	}
	if h.script {
		m.class += " script"
	}
	if end == "" {
		m.class += " later"
		end = b.in.Say("to the end of the picture")
	} else {
		end = b.in.Sayf("until %s s: %s", words.Instant(to), b.in.Say(end))
	}
	m.title = b.in.Sayf("%s holds %s for %s (%s) from %s s %s", show(h.node), show(h.key), show(h.owner), show(h.token), words.Instant(h.from), end)
	l.marks = append(l.marks, m)
}

// mostTicks is how many commands are drawn.
const mostTicks = 400

// ticks draws the commands that the lock's servers got.
func (b *builder) ticks() {
	n := 0
	for _, x := range b.run.Exchanges {
		if x.Node == story.Register || story.Setup(x) || x.Sent < b.from || x.Sent > b.to || !b.drawnClient(x.Client) {
			continue
		}
		if n++; n > mostTicks {
			continue
		}
		l := b.node(x.Node)
		at := b.clip(executed(x))
		m := &mark{row: tickRow, class: "tick", from: at, to: at, event: -1, last: -1, who: brief(x.Client, 24), f: "command",
			label: command(x, b.in), title: b.in.Sayf("%s s · %s → %s", words.Instant(x.Sent), show(x.Client), sent(x, b.in))}
		if x.Note != "" {
			m.class += " noted"
		}
		if said := m.label + scriptOf(x); l.said == said { // once is enough
			m.label = ""
		} else {
			l.said = said
		}
		l.marks = append(l.marks, m)
	}
	if n > mostTicks {
		b.left = append(b.left, b.in.Sayf("%d of %d commands are drawn", mostTicks, n))
	}
}

// singles are the events that stand alone, which are no call's and no fault's, in order.
func singles(events []histories.Event) []histories.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e histories.Event) bool { return !e.Single() })
}

// audits are the events that tell what a server was found to hold.
func audits(events []histories.Event) []histories.Event {
	return slices.DeleteFunc(singles(events), func(e histories.Event) bool { return e.F != histories.Audit || e.Node == "" })
}

// scriptOf is what tells one script from another.
func scriptOf(x histories.Exchange) string {
	words := strings.Fields(clip(x.Command))
	if len(words) > 1 && strings.HasPrefix(strings.ToUpper(words[0]), "EVAL") {
		return words[1]
	}
	return ""
}

// command names a command and its reply.
func command(x histories.Exchange, in language.Language) string {
	verb, _, _ := strings.Cut(x.Command, " ")
	switch strings.ToUpper(verb) {
	case "EVALSHA", "EVAL":
		verb = in.Say("script")
	}
	verb = brief(verb, 12)
	if args := strings.Fields(x.Command); slices.Contains(args, "NX") || len(args) > 0 && args[len(args)-1] == "nx" {
		verb += " NX"
	}
	reply := x.Reply
	switch {
	case reply == "":
		reply = in.Say("no reply")
	case strings.HasPrefix(reply, `"`):
		reply = in.Say("error")
	}
	return fmt.Sprintf("%s: %s → %s", brief(x.Client, 12), verb, brief(reply, 10))
}
