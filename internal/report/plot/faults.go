package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// manyKinds is how many kinds of faults have a row of their own.
const manyKinds = 6

// manySpans is how many spans of one row are drawn one by one.
const manySpans = 60

// A span is a part of the axis of time, in columns.
type span struct{ from, to int }

func (s *subject) span(o story.Fault) span {
	at := span{s.x(o.Invoke.Time), columns}
	if o.Over() {
		at.to = s.x(o.Complete.Time)
	}
	return span{min(at.from, at.to), max(at.from, at.to)}
}

// faultName is a fault and what it struck.
func faultName(o story.Fault) string {
	return strings.TrimSpace(named(string(o.Invoke.F)) + " " + named(o.Invoke.Node))
}

// joined returns spans in order, with those made one that touch, and, if there are too many,
// those that almost do.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for near := 0; ; near = 2*near + 1 {
		var all []span
		for _, s := range spans {
			if n := len(all); n > 0 && s.from <= all[n-1].to+near {
				all[n-1].to = max(all[n-1].to, s.to)
				continue
			}
			all = append(all, s)
		}
		if len(all) <= manySpans {
			return all
		}
	}
}

// bands draws all faults behind the data.
func (s *subject) bands(top, bottom int) string {
	var spans []span
	for _, o := range s.faults {
		spans = append(spans, s.span(o))
	}
	var d strings.Builder
	for _, b := range joined(spans) {
		fmt.Fprintf(&d, "M%d %dH%dV%dH%dz", b.from, top, b.to, bottom, b.from)
	}
	if d.Len() == 0 {
		return ""
	}
	return `<path class="band" d="` + d.String() + `"/>`
}

// faultRows draws each kind of fault as a row of bars under its name.
func (c *canvas) faultRows() {
	c.top = c.height
	type kind struct {
		f   histories.F
		ops []story.Fault
	}
	var kinds []*kind
	of := map[histories.F]*kind{}
	for _, o := range c.s.faults {
		k := of[o.Invoke.F]
		if k == nil {
			k = &kind{f: o.Invoke.F}
			of[k.f] = k
			kinds = append(kinds, k)
		}
		k.ops = append(k.ops, o)
	}
	if len(kinds) > manyKinds {
		rest := &kind{}
		for _, k := range kinds[manyKinds-1:] {
			rest.ops = append(rest.ops, k.ops...)
		}
		rest.f = histories.F(c.s.Language.Sayf("%d other kinds of faults", len(kinds)-manyKinds+1))
		kinds = append(kinds[:manyKinds-1], rest)
	}
	for _, k := range kinds {
		name := named(string(k.f))
		if len(k.ops) > 1 {
			name += fmt.Sprintf(" × %d", len(k.ops))
		} else {
			name = faultName(k.ops[0])
		}
		var spans []span
		for _, o := range k.ops {
			spans = append(spans, c.s.span(o))
		}
		all := joined(spans)
		c.row("bar", name, all[0].from, all)
		if len(c.s.faults) <= manyTitles {
			for _, o := range k.ops {
				c.tell(o, c.height-7)
			}
		}
	}
}

// manyTitles is how many faults tell who was struck and when, if they are pointed at.
const manyTitles = 40

// tell tells each fault where it is drawn.
func (c *canvas) tell(o story.Fault, y int) {
	in := c.s.Language
	at, until := c.s.span(o), in.Say("not over")
	if o.Over() {
		until = in.Sayf("until %s", words.Seconds(o.Complete.Time))
	}
	fmt.Fprintf(&c.data, `<path class="tip" d="M%d %dH%d"><title>%s</title></path>`,
		at.from, y, max(at.to, at.from+4), escape(in.Sayf("%s, from %s, %s", faultName(o), words.Seconds(o.Invoke.Time), until)))
}

// row draws spans under their name, which is written at x.
func (c *canvas) row(class, name string, x int, spans []span) {
	c.text("t", x, c.height+10, name)
	y := c.height + 15
	var d strings.Builder
	for _, b := range spans {
		fmt.Fprintf(&d, "M%d %dv4", b.from, y-2) // to be seen, however short
		if b.to > b.from {
			fmt.Fprintf(&d, "M%d %dH%d", b.from, y, b.to)
		}
	}
	c.path(class, d.String())
	c.height += 19
}
