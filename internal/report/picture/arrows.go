package picture

import (
	"fmt"
	"math"
	"time"

	"github.com/lockbench/lockbench/internal/words"
)

// An arrow leads from what was waited for to what had waited.
type arrow struct {
	from, to time.Duration
	at, goes *lane
	event    int
	title    string
	met      string // the rule that met the command from which it leads; empty: it leads from something else
}

// arrows are those of the gates whose ends are both in the picture.
func (b *builder) arrows() (all []arrow) {
	for _, g := range b.run.Gates {
		at, goes := b.placeOf(g.At), b.placeOf(g.Goes)
		if at == nil || goes == nil || g.From < b.from || g.To > b.to {
			continue
		}
		all = append(all, arrow{from: g.From, to: g.To, at: at, goes: goes, event: g.Event, met: brief(g.Rule, 60),
			title: words.Instant(g.From) + "–" + words.Instant(g.To) + " s · " + g.Condition})
	}
	return all
}

// placeOf is the lane of a client, of a server, or of the faults.
func (b *builder) placeOf(name string) *lane {
	if name != "" {
		if l := b.known(name); l != nil {
			return l
		}
	}
	return b.byName[fmt.Sprint(faultLane, faultsName)]
}

// leads draws an arrow: along the lane from which it comes, and then to the one where it goes. It keeps its shape at every zoom.
func (s *scene) leads(c *canvas, w arrow) {
	from, to := w.at.anchor(), w.goes.anchor()
	a, b, x, wide := s.span(w.from, w.to)
	c.put(`<g class="gate" data-a="%d" data-b="%d" data-event="%d" transform="translate(%s,%s)"><title>%s</title>`, a, b, w.event, px(x), px(from), esc(w.title))
	c.put(`<rect class="w" y="-0.5" width="%s" height="1"/>`, px(math.Max(wide, 1)))
	if w.met != "" {
		c.put(`<path class="met" d="M0 -6 L6 0 L0 6 L-6 0 Z"/>`)
	} else {
		c.put(`<circle r="2.5"/>`)
	}
	tip := to - from
	head := 5.0
	if tip < 0 {
		head = -head
	}
	c.put(`<g class="e" transform="translate(%s,0)"><path d="M0 0 V%s"/>`, px(wide), px(tip))
	if tip != 0 {
		c.put(`<path class="head" d="M0 %s l-3.5 %s h7 Z"/>`, px(tip), px(-head))
	}
	if w.met != "" { // under what began then, where nothing else is written
		c.put(`<text x="6" y="%s">%s</text>`, px(tip+lineHeight), esc(w.met))
	}
	c.put("</g></g>\n")
}

// anchor is the height at which arrows leave a lane and come to it: that of what it is told by.
func (l *lane) anchor() float64 {
	switch l.kind {
	case faultLane:
		return l.y + l.top(holdRow) + barHeight
	case clientLane:
		return l.y + l.top(callRow) + callHeight/2
	}
	return l.y + l.top(tickRow)
}
