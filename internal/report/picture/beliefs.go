package picture

import (
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// belief draws what a client believed to hold, and its lease.
func (b *builder) belief(h story.Belief) {
	if !b.clientLanes[h.Worker] || h.Returned.Time > b.to || !h.Open() && h.Ended.Time < b.from {
		return
	}
	if h.Returned.Time >= b.from && !b.drawn[h.Returned.Event] && !b.drawn[h.Ended.Event] {
		return // of a call that is left out
	}
	l := b.client(h.Worker)
	from, to := b.clip(h.Returned.Time), b.to
	m := &mark{row: holdRow, class: "belief", event: h.Returned.Event, last: -1, who: l.name, key: keyName(h.Key), f: "belief"}
	until := b.in.Say("to the end of the run")
	if !h.Open() {
		to, m.last = b.clip(h.Ended.Time), h.Ended.Event
		until = b.in.Sayf("until %s s, when it %s", words.Instant(h.Ended.Time), b.ending(h.End))
	}
	if h.Returned.Time < b.from {
		m.class += " earlier"
	}
	if h.Open() || h.Ended.Time > b.to {
		m.class += " later"
	}
	m.from, m.to = from, to
	m.label, m.short = b.in.Sayf("%s believes it holds %s", l.name, brief(h.Key, 28)), b.in.Sayf("%s holds", l.name)
	if h.Mode == histories.Shared {
		m.label, m.short = b.in.Sayf("%s believes it holds %s for reading", l.name, brief(h.Key, 28)), b.in.Sayf("%s reads", l.name)
	}
	if h.Token > 0 {
		token := " · " + b.in.Sayf("token %d", h.Token)
		m.label, m.short = m.label+token, m.short+token
	}
	m.title = b.in.Sayf("%s believes that it holds %s from %s s %s", l.name, show(h.Key), words.Instant(h.Returned.Time), until)
	l.marks = append(l.marks, m)
	b.spans = append(b.spans, span{belief: h, from: from, to: to, mark: m})
	b.leases(l, h)
}

// leases draws a hold's lease and those that its extensions got, up to the deadline that the
// client was told.
func (b *builder) leases(l *lane, h story.Belief) {
	all := h.Leases()
	for i, x := range all {
		if x.From > b.to || x.To < b.from {
			continue
		}
		told := x.To
		if next := b.again(h); !h.Open() && next > 0 && next < x.To { // its dashes would cross the next one
			x.To = max(h.Ended.Time, x.From)
		}
		m := &mark{row: holdRow, class: "lease", from: max(x.From, b.from), to: x.To, event: x.Event, last: -1,
			who: l.name, key: keyName(h.Key), f: "lease",
			title: b.in.Sayf("%s's lease of %s ends at %s s, as it was told", l.name, show(h.Key), words.Instant(told))}
		if i == len(all)-1 && x.To == told {
			m.class += " last"
			m.label = b.in.Sayf("lease until %s", words.Instant(told))
		}
		if x.To > b.to && len(b.events) > crowded {
			m.to, m.class, m.label = b.to, "lease later", ""
		} else if x.To > b.to {
			b.end = max(b.end, x.To)
		}
		// Dashed where the client does not believe any more.
		if !h.Open() && h.Ended.Time < m.to {
			if h.Ended.Time > m.from {
				whole := *m
				whole.to, whole.class, whole.label = h.Ended.Time, "lease", ""
				l.marks = append(l.marks, &whole)
				m.from = h.Ended.Time
			}
			m.class += " over"
		}
		l.marks = append(l.marks, m)
	}
}

// again is when the client is granted the same key the next time; 0: never.
func (b *builder) again(h story.Belief) time.Duration {
	for _, next := range b.grants[grant{h.Worker, h.Key}] {
		if next > h.Returned.Time {
			return next
		}
	}
	return 0
}

// A grant is who was granted what.
type grant struct {
	worker int
	key    string
}

func (b *builder) ending(f histories.F) string {
	switch f {
	case histories.Release:
		return b.in.Say("asks to release it")
	case histories.Lost:
		return b.in.Say("is told that the lease is lost")
	case histories.Abandon:
		return b.in.Say("walks away")
	case histories.Crash:
		return b.in.Say("crashes")
	}
	return b.in.Say("stops")
}
