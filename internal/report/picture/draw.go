package picture

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/words"
)

// A canvas collects markup.
type canvas struct{ strings.Builder }

func (c *canvas) put(format string, args ...any) { fmt.Fprintf(&c.Builder, format, args...) }

// calloutWidth is that of a violation's story, in px.
const calloutWidth = 300

// callouts is how high the stories of violations are; they share one place.
func (s *scene) callouts() float64 {
	most := 0.0
	for _, w := range s.wrongs {
		most = math.Max(most, w.height())
	}
	return most + 12
}

// head is a violation's name as it is drawn.
func (w wrong) head() []string { return wrap("✗ "+w.name, (calloutWidth-30)/1.22) }

// height is that of the callout.
func (w wrong) height() float64 { return float64((len(w.head())+len(w.lines())+len(w.also))*15 + 16) }

// lines are a violation's story as it is drawn.
func (w wrong) lines() []string {
	const most = 6
	lines := wrap(w.story, (calloutWidth-24)/1.1)
	if len(lines) > most {
		lines = append(lines[:most-1], lines[most-1]+" …")
	}
	return lines
}

// names draws the lanes' names.
func (s *scene) names(c *canvas) {
	for _, l := range s.lanes {
		c.put("<g>")
		c.put(`<line class="rule" x1="0" x2="%s" y1="%s" y2="%s"/>`, px(s.labels), px(l.y), px(l.y))
		c.put(`<text class="name" x="14" y="%s">%s</text>`, px(l.y+25), esc(brief(s.in.Say(l.name), 13)))
		for i, line := range wrap(l.sub, s.labels-24) {
			c.put(`<text class="sub" x="14" y="%s">%s</text>`, px(l.y+40+13*float64(i)), esc(line))
		}
		c.put("</g>\n")
	}
}

// plot draws everything but the names.
func (s *scene) plot(c *canvas) {
	s.ruler(c)
	for _, l := range s.lanes {
		s.bands(c, l)
	}
	for i, w := range s.wrongs {
		s.hatch(c, i, w)
	}
	for _, l := range s.lanes {
		c.put(`<g class="lane" role="group" aria-label="%s" data-lane="%s" transform="translate(0,%s)"><line class="rule" x1="0" x2="%s" y1="0" y2="0"/>`+"\n",
			esc(strings.TrimSuffix(brief(s.in.Say(l.name), 60)+", "+l.sub, ", ")), esc(brief(l.name, 60)), px(l.y), px(s.axis.width))
		for _, m := range l.marks {
			s.mark(c, l, m)
		}
		c.put("</g>\n")
	}
	for _, w := range s.arrows {
		s.leads(c, w)
	}
	for i, w := range s.wrongs {
		s.callout(c, i, w)
	}
}

// ruler draws the axis, and where the run ends.
func (s *scene) ruler(c *canvas) {
	c.put(`<g class="axis">`)
	end := -1000.0
	for i, t := range s.axis.times {
		x := s.axis.x[i]
		text := words.Instant(t)
		hide := ""
		if x-end < width(text)+14 {
			hide = " off"
		} else {
			end = x
		}
		c.put(`<g class="time%s" data-a="%d" transform="translate(%s,0)"><line y1="24" y2="%s"/><text y="17" text-anchor="middle">%s</text></g>`,
			hide, i, px(x), px(s.height), text)
	}
	for _, i := range s.axis.breaks {
		gap := s.axis.times[i] - s.axis.times[i-1]
		from, to := s.axis.x[i-1], s.axis.x[i]
		c.put(`<g class="break" data-a="%d" data-b="%d" transform="translate(%s,0)"><title>%s</title>`+
			`<rect class="w" x="0" y="24" width="%s" height="%s"/><text class="c" x="%s" y="27" text-anchor="middle">%s</text></g>`,
			i-1, i, px(from), esc(s.in.Sayf("%s pass here: the picture is not to scale", length(gap))), px(to-from), px(s.height-24), px((to-from)/2), length(gap))
	}
	if s.end > s.to {
		c.put(`<g class="finish" data-a="%d" transform="translate(%s,0)"><title>%s</title><line y1="24" y2="%s"/></g>`,
			s.axis.at(s.to), px(s.axis.px(s.to)), esc(s.in.Say("the last event that is drawn")), px(s.height))
	}
	c.put("</g>\n")
}

// length is how long a break is.
func length(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f ms", float64(d)/1e6)
}

// span is a place and an extent on the axis.
func (s *scene) span(from, to time.Duration) (a, b int, x, w float64) {
	a, b = s.axis.at(from), s.axis.at(to)
	return a, b, s.axis.x[a], s.axis.x[b] - s.axis.x[a]
}

// bands draws what went on over a whole lane.
func (s *scene) bands(c *canvas, l *lane) {
	for _, m := range l.bands {
		a, b, x, w := s.span(m.from, m.to)
		c.put(`<g class="band %s" data-a="%d" data-b="%d" data-event="%d" data-f="%s" transform="translate(%s,%s)"><title>%s</title><rect class="w" width="%s" height="%s"/></g>`+"\n",
			esc(m.class), a, b, m.event, esc(brief(m.f, 40)), px(x), px(l.y), esc(m.title), px(math.Max(w, 1.5)), px(l.h))
		if m.class == "dead" && w > 40 {
			c.put(`<g class="note" data-a="%d" transform="translate(%s,%s)"><text class="deadline" x="8" y="23">%s</text></g>`+"\n", a, px(x), px(l.y), esc(s.in.Say("dead")))
		}
	}
}

// mark draws a mark in the coordinates of its lane.
func (s *scene) mark(c *canvas, l *lane, m *mark) {
	a, b, x, w := s.span(m.from, m.to)
	y := l.top(m.row)
	if m.row == holdRow {
		y += float64(m.level) * l.bar()
	}
	if m.f == "lease" {
		y += barHeight + 1
	}
	c.put(`<g class="mark %s%s%s" tabindex="0" role="img" data-a="%d" data-b="%d"`, esc(m.class), s.hue(m), s.proves(m), a, b)
	if m.event >= 0 {
		c.put(` data-event="%d"`, m.event)
	}
	if m.last >= 0 {
		c.put(` data-last="%d"`, m.last)
	}
	c.put(` data-client="%s" data-f="%s"`, esc(m.who), esc(brief(m.f, 40)))
	if m.key != "" {
		c.put(` data-key="%s"`, esc(m.key))
	}
	c.put(` transform="translate(%s,%s)"><title>%s</title>`, px(x), px(y), esc(m.title))
	switch m.row {
	case callRow:
		s.call(c, l, m, w)
	case tickRow:
		c.put(`<path d="M0 0 L4 8 L-4 8 Z"/>`)
		s.label(c, l, m, float64(tickHeight+2+10+m.at*lineHeight))
	default:
		s.bar(c, l, m, w)
	}
	c.put("</g>\n")
}

// label writes a label beside its mark.
func (s *scene) label(c *canvas, _ *lane, m *mark, y float64) {
	if m.label == "" {
		return
	}
	hide := ""
	if m.hidden {
		hide = " off"
	}
	c.put(`<text class="l%s" data-row="%d" data-w="%s" y="%s">%s</text>`, hide, m.at, px(width(m.label)), px(y), esc(m.label))
}

// call draws a call: a bar with a dot, a cross or a question mark at its end.
func (s *scene) call(c *canvas, l *lane, m *mark, w float64) {
	const mid = callHeight / 2
	switch {
	case strings.HasPrefix(m.class, "seen"):
		if strings.Contains(m.class, "read") {
			c.put(`<circle cy="%d" r="3.5"/>`, mid)
		} else {
			c.put(`<rect x="-4.5" y="%s" width="9" height="9" rx="1"/>`, px(mid-4.5))
		}
	case strings.HasPrefix(m.class, "single"):
		c.put(`<path d="M0 -2 L6 5 L0 12 L-6 5 Z"/>`)
	default:
		c.put(`<rect class="w" y="1" width="%s" height="8" rx="4"/>`, px(math.Max(w, 4)))
		c.put(`<g class="e" transform="translate(%s,0)">`, px(w))
		switch {
		case strings.Contains(m.class, "refused"):
			c.put(`<path class="glyph" d="M-4 1 L4 9 M4 1 L-4 9"/>`)
		case strings.Contains(m.class, "unknown"):
			c.put(`<text class="glyph" x="1" y="9">?</text>`)
		default:
			c.put(`<circle class="glyph" cy="%d" r="4"/>`, mid)
		}
		c.put("</g>")
	}
	s.label(c, l, m, -float64((l.labelLevels()-1-m.at)*lineHeight)-5)
	if slices.ContainsFunc(s.wrongs, func(w wrong) bool { return w.lost >= 0 && (m.event == w.lost || m.last == w.lost) }) {
		c.put(`<g class="lost e" transform="translate(%s,0)"><path d="M-7 -2 L7 12 M7 -2 L-7 12"/></g>`, px(w))
	}
}

// bar draws a bar with its text inside.
func (s *scene) bar(c *canvas, l *lane, m *mark, w float64) {
	if m.f == "lease" {
		c.put(`<line class="w" x2="%s" y1="2.5" y2="2.5"/>`, px(math.Max(w, 1)))
		if strings.Contains(m.class, "last") {
			c.put(`<g class="e" transform="translate(%s,0)"><path class="end" d="M0 -3 V8"/><text class="deadline" x="5" y="10">%s</text></g>`, px(w), esc(m.label))
		}
		return
	}
	c.put(`<rect class="w" width="%s" height="%d" rx="3"/>`, px(math.Max(w, 3)), barHeight)
	if l.kind == faultLane {
		if width(m.label)+12 <= w {
			c.put(`<text class="t"%s x="6" y="13">%s</text>`, s.english(), esc(m.label))
		} else {
			c.put(`<text class="t"%s x="%s" y="13">%s</text>`, s.english(), px(math.Max(w, 3)+4), esc(m.label))
		}
		return
	}
	text := ""
	if width(m.label)+12 <= w {
		text = m.label
	} else if width(m.short)+8 <= w {
		text = m.short
	}
	c.put(`<text class="t" x="6" y="13" data-long="%s" data-short="%s" data-w="%s" data-s="%s">%s</text>`, esc(m.label), esc(m.short), px(width(m.label)), px(width(m.short)), esc(text))
}

// proves names the violations that a mark is evidence of, as classes.
func (s *scene) proves(m *mark) string {
	names := ""
	for i, w := range s.wrongs {
		if m.event >= 0 && w.witness[m.event] || m.last >= 0 && w.witness[m.last] && m.f != "belief" {
			if m.f != "lease" && m.f != "held" {
				names += fmt.Sprintf(" w%d", i)
				if i == s.first() {
					names += " proof"
				}
			}
		}
	}
	return names
}

// first is the violation that is highlighted at first.
func (s *scene) first() int {
	return slices.IndexFunc(s.wrongs, func(w wrong) bool { return w.drawn })
}

// on is the class of what belongs to the highlighted violation.
func (s *scene) on(i int) string {
	if i == s.first() {
		return " on"
	}
	return ""
}

// hues is how many colours clients have.
const hues = 6

// hue is the class of a client's colour.
func (s *scene) hue(m *mark) string {
	n := 0
	for _, l := range s.lanes {
		if l.kind == clientLane {
			if l.name == m.who {
				return fmt.Sprintf(" c%d", n%hues)
			}
			n++
		}
	}
	return ""
}

// hatch draws what is wrong over the lanes that it concerns.
func (s *scene) hatch(c *canvas, i int, w wrong) {
	if !w.drawn {
		return
	}
	from := axisHeight - 4 + w.height()
	var hit []*lane
	for _, l := range s.lanes {
		if l.kind == clientLane && w.lanes[l.name] || w.lost >= 0 && l.kind == registerLane {
			hit = append(hit, l)
		}
	}
	to := from
	if len(hit) > 0 {
		to = hit[len(hit)-1].y
	}
	a, b, x, wide := s.span(w.from, w.to)
	c.put(`<g class="hatch v v%d%s" data-a="%d" data-b="%d" transform="translate(%s,%s)"><rect class="thread" width="1.5" height="%s"/>`, i, s.on(i), a, b, px(x), px(from), px(to-from))
	for _, l := range hit {
		c.put(`<rect class="w" y="%s" width="%s" height="%s"/>`, px(l.y-from), px(math.Max(wide, 2)), px(l.h))
	}
	c.put("</g>\n")
}

// english marks what the record says, in a picture that speaks another language.
func (s *scene) english() string {
	if s.in.Name() == (language.Language{}).Name() {
		return ""
	}
	return ` lang="en"`
}

// callout draws a violation's story.
func (s *scene) callout(c *canvas, i int, w wrong) {
	if !w.drawn {
		return
	}
	a := s.axis.at(w.from)
	x := math.Max(math.Min(s.axis.x[a], s.axis.width-calloutWidth-8), 4)
	lines := w.lines()
	height := w.height()
	c.put(`<g class="callout v v%d%s" id="picture-violation-%d" data-a="%d" data-w="%d" transform="translate(%s,%d)">`, i, s.on(i), i, a, calloutWidth, px(x), axisHeight-4)
	c.put(`<rect width="%d" height="%s" rx="6"/>`, calloutWidth, px(height))
	head := w.head()
	for n, line := range slices.Concat(head, lines, w.also) {
		class := s.english()
		if n < len(head) {
			class = ` class="what"`
		}
		if n >= len(head)+len(w.lines()) {
			class = ` class="also"`
		}
		c.put(`<text%s x="12" y="%d">%s</text>`, class, 20+15*n, esc(line))
	}
	c.put("</g>\n")
}
