package picture

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// clients draws the calls and what clients believed.
func (b *builder) clients() {
	for _, o := range b.ops {
		if !o.Fault() && b.clientLanes[o.Invoke.Worker] {
			b.call(o)
		}
	}
	for _, e := range singles(b.events) {
		if e.Process != histories.Nemesis && e.F != histories.Waited && b.clientLanes[e.Worker] {
			l := b.client(e.Worker)
			l.marks = append(l.marks, &mark{row: callRow, class: "single " + singleClass(e.F), from: e.Time, to: e.Time, label: b.singleLabel(e),
				title: b.telling(e, e, true), event: e.Index, last: -1, who: l.name, key: keyName(e.Key), f: string(e.F)})
		}
	}
	b.grants = map[grant][]time.Duration{}
	for _, h := range b.story.Beliefs() {
		if h.Returned.Time >= b.from && h.Returned.Time <= b.to {
			g := grant{h.Worker, h.Key}
			b.grants[g] = append(b.grants[g], h.Returned.Time)
		}
	}
	for _, h := range b.story.Beliefs() {
		b.belief(h)
	}
}

func (b *builder) client(worker int) *lane {
	l := b.lane(clientLane, histories.WorkerName(worker))
	l.sub = b.in.Say("client")
	return l
}

// ended is when an unfinished call ended, as its client crashed in it; else the end of the picture.
func (b *builder) ended(o histories.Op) time.Duration {
	for _, e := range b.run.Events {
		if e.F == histories.Crash && e.Worker == o.Invoke.Worker && e.Index > o.Invoke.Index {
			return b.clip(e.Time)
		}
	}
	return b.to
}

// call draws a call from its invocation to its completion, or to the crash of its client.
func (b *builder) call(o histories.Op) {
	l := b.client(o.Invoke.Worker)
	m := &mark{row: callRow, from: b.clip(o.Invoke.Time), to: b.to, event: o.Invoke.Index, last: -1,
		who: l.name, key: keyName(o.Invoke.Key), f: string(o.Invoke.F), class: "call unknown"}
	told := o.Invoke
	if !o.Done {
		m.to = b.ended(o)
	} else {
		m.to, m.last, told = b.clip(o.Complete.Time), o.Complete.Index, o.Complete
		m.class = "call " + outcomeClass(o.Complete.Type)
	}
	if story.Section(o.Invoke.F) {
		m.class += " section"
	}
	m.label, m.short = b.callLabel(o), b.in.Say(string(o.Invoke.F))
	if b.many {
		m.label += " " + brief(o.Invoke.Key, 24)
	}
	if l.said == m.label && o.Outcome() != histories.OK { // once is enough
		m.label = b.in.Say(outcomeClass(o.Outcome()))
	} else {
		l.said = m.label
	}
	m.title = b.telling(o.Invoke, told, false) + b.wire(o)
	l.marks = append(l.marks, m)
}

// mostWire is how many commands of one call are told with it.
const mostWire = 6

// wire tells the commands of a call.
func (b *builder) wire(o histories.Op) string {
	var t strings.Builder
	for n, i := range b.story.Sent(o) {
		if n == mostWire {
			t.WriteString("\n→ …")
			break
		}
		t.WriteString("\n→ " + sent(b.run.Exchanges[i], b.in))
	}
	return t.String()
}

// telling tells an event or a call: its indexes and times, who, what.
func (b *builder) telling(first, last histories.Event, single bool) string {
	mark, at := fmt.Sprint(first.Index), words.Instant(first.Time)
	if !single && last.Index != first.Index {
		mark += fmt.Sprintf("–%d", last.Index)
		at += "–" + words.Instant(last.Time)
	}
	return b.in.Sayf("event %s · %s s · %s %s", mark, at, histories.WorkerName(first.Worker), tell(last, b.in))
}

func outcomeClass(t histories.Type) string {
	switch t {
	case histories.OK:
		return "ok"
	case histories.Fail:
		return "refused"
	}
	return "unknown"
}

func singleClass(f histories.F) string {
	switch f {
	case histories.Crash, histories.Lost, histories.Abandon:
		return string(f)
	}
	return "other"
}

// singleLabel names what happened to a client.
func (b *builder) singleLabel(e histories.Event) string {
	switch e.F {
	case histories.Crash:
		return b.in.Say("crashes")
	case histories.Lost:
		return b.in.Say("is told: lease lost")
	case histories.Abandon:
		return b.in.Say("walks away")
	}
	return b.in.Say(brief(string(e.F), 24))
}

// callLabel is the name of a call, with what came of it.
func (b *builder) callLabel(o histories.Op) string {
	e := o.Complete
	what := b.in.Say(brief(string(o.Invoke.F), 24))
	if o.Invoke.F == histories.Acquire && o.Invoke.Mode() == histories.Shared {
		what = b.in.Say("acquire (reader)")
	}
	switch o.Outcome() {
	case histories.Fail:
		return b.in.Sayf("%s refused", what)
	case histories.Info:
		return b.in.Sayf("%s unknown", what)
	}
	switch e.F {
	case histories.Read:
		return b.in.Sayf("read %s, v%d", brief(e.Value, 12), e.Version)
	case histories.Write:
		return b.in.Sayf("write %s, v%d→%d", brief(e.Value, 12), e.Version, e.Version+1)
	case histories.Incr, histories.Draw:
		return fmt.Sprintf("%s %s, v%d→%d", what, brief(e.Value, 12), e.Version, e.Version+1)
	case histories.Count:
		return what + " " + brief(e.Value, 12)
	}
	return what
}

// keyName is how a key is named in data-key.
func keyName(key string) string {
	if key == "" {
		return ""
	}
	return brief(key, 60)
}
