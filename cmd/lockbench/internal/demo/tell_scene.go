package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/story"
)

// scene tells one step.
func (t *teller) scene(res harness.Result, number int, s, before scene) {
	text := t.lang.step(s.step)
	if s.simulated {
		text += t.lang.text("simulated")
	}
	t.add(block{kind: step, label: fmt.Sprint(number), mark: seconds(s.at), text: text, tone: strong})
	for _, c := range s.sent {
		t.sent(c)
	}
	if s.idle != "" {
		t.row("", t.lang.text("step.idle", "client", s.idle), plain)
	}
	for _, a := range s.accesses {
		t.row(t.lang.text("row.register"), t.access(a), plain)
	}
	t.holdings(res, s)
	for _, b := range s.beliefs {
		old := slices.IndexFunc(before.beliefs, func(o belief) bool { return o.client == b.client })
		same := old >= 0 && before.beliefs[old] == b
		if same && b.settled() {
			continue
		}
		tone := plain
		if same {
			tone = quiet
		}
		t.row(t.lang.text("row.believes", "client", b.client), t.belief(b), tone)
	}
	for _, m := range s.meetings {
		t.row("!!", t.meeting(m), bad)
	}
	if len(s.broken) > 0 {
		t.row("!!", t.lang.text("alarm.broken", "properties", t.properties(s.broken)), bad)
	}
}

func (t *teller) meeting(m story.Meeting) string {
	first, second := m.Holder.Client(), m.Granted.Client()
	if m.Lapsed > 0 {
		return t.lang.text("alarm.both-after-lease", "first", first, "second", second, "ended", seconds(m.Lapsed))
	}
	return t.lang.text("alarm.both", "first", first, "second", second)
}

// afterwards tells what followed the last step: faults are healed, and somebody who took no
// part asks for the lock.
func (t *teller) afterwards(res harness.Result, s scene) {
	prober := res.Config.Workload.Clients()
	key, at, times := "after.refused", time.Duration(0), 0
	for _, e := range res.Events {
		if e.Worker != prober || e.F != histories.Acquire {
			continue
		}
		switch e.Type {
		case histories.Invoke:
			times++
		case histories.OK:
			key = "after.granted"
		}
		at = e.Time
		if key == "after.granted" {
			break
		}
	}
	t.add(block{kind: step, mark: seconds(at), text: t.lang.text(key, "client", histories.WorkerName(prober), "times", times, "until", seconds(at))})
	t.holdings(res, s)
	if len(s.broken) > 0 {
		t.row("!!", t.lang.text("alarm.broken", "properties", t.properties(s.broken)), bad)
	}
	t.turn()
}

// sent tells a command and its reply, and once what a script does.
func (t *teller) sent(c sent) {
	text := c.command
	switch c.state {
	case story.Answered:
		if c.reply != "" {
			text += "  => " + c.reply
		}
	case story.LetGo:
		text = t.lang.text("sent.went-on", "command", c.command, "reply", c.reply)
	case story.Held:
		text = t.lang.text("sent.held", "command", c.command)
	case story.ReplyHeld:
		text = t.lang.text("sent.reply-held", "command", c.command)
	case story.Lost:
		text = t.lang.text("sent.reply-lost", "command", c.command)
	case story.Waiting:
		text = t.lang.text("sent.waiting", "command", c.command)
	}
	if c.times > 1 {
		key := "sent.times"
		if c.alike {
			key = "sent.again"
		}
		text += t.lang.text(key, "times", c.times, "until", seconds(c.until))
	}
	t.add(block{kind: row, label: c.client + " → " + together(c.nodes), text: text, wire: true})
	if does := t.lang.said("script."+c.script, ""); does != "" {
		t.once(t.lang.text("script", "name", c.script, "does", does))
	}
	if strings.HasPrefix(c.reply, `"NOSCRIPT `) {
		t.once(t.lang.text("sent.noscript"))
	}
}

// once explains something where it is seen first.
func (t *teller) once(text string) {
	if !t.told[text] {
		t.told[text] = true
		t.row("", text, quiet)
	}
}

func (t *teller) access(a access) string {
	switch {
	case a.done:
		return t.lang.text("register.done", "client", a.client, "round", a.value)
	case a.stale:
		return t.lang.text("register.stale", "client", a.client)
	case a.refused != "":
		return t.lang.text("register.refused", "client", a.client, "why", a.refused)
	case a.draw && a.drawn != "":
		return t.lang.text("register.drawn", "client", a.client, "round", a.value, "winner", a.drawn)
	case a.draw:
		return t.lang.text("register.draw", "client", a.client, "round", a.value)
	case !a.write && a.again && a.version != a.seen:
		return t.lang.text("register.changed", "client", a.client, "value", a.value, "version", a.version, "seen", a.seen)
	case !a.write:
		return t.lang.text("register.read", "client", a.client, "value", a.value, "version", a.version)
	case a.version != a.seen:
		return t.lang.text("register.overwrite", "client", a.client, "value", a.value, "version", a.version, "seen", a.seen)
	}
	return t.lang.text("register.write", "client", a.client, "value", a.value, "version", a.version)
}

func (t *teller) belief(b belief) string {
	text := ""
	switch b.opinion {
	case asks:
		text = t.lang.text("believes.asks")
	case holds:
		key := "believes.holds"
		switch {
		case b.renews:
			key = "believes.renewed"
		case b.until == 0:
			key = "believes.holds-open"
		case b.over:
			key = "believes.overdue"
		}
		if b.shared {
			key += "-reading"
		}
		text = t.lang.text(key, "until", seconds(b.until))
		if b.depth > 1 {
			text += t.lang.text("believes.entered", "times", b.depth)
		}
	case refused:
		text = t.lang.text("believes.refused")
	case unsure:
		text = t.lang.text("believes.unsure")
	case returns:
		text = t.lang.text("believes.returns")
	case returned:
		text = t.lang.text("believes.returned")
	case robbed:
		text = t.lang.text("believes.robbed")
	case doubts:
		text = t.lang.text("believes.doubts")
	case gone:
		text = t.lang.text("believes.gone")
	case dead:
		text = t.lang.text("believes.dead")
	}
	if b.still {
		text += t.lang.text("believes.still")
	}
	return text
}

// settled reports whether nothing is to be told of b until it changes.
func (b belief) settled() bool {
	return !b.still && b.opinion != asks && b.opinion != holds && b.opinion != returns
}
