package plot

import (
	"cmp"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/report"
)

// The picture is as wide as the page lets it be, and as high as it needs to be, in pixels. Data
// is in a coordinate system of its own whose x is stretched to the width, in steps of one part
// in columns; strokes and text are not stretched, so that they can be read on a telephone.
const (
	columns   = 1200 // of the data
	narrow    = 310  // pixels that the data has on the narrowest page
	character = 7    // pixels, at most
)

// style is the same in all pictures. It names nothing outside of them.
const style = `.lbp{display:block;width:100%;box-sizing:border-box;padding:0 12px 0 54px;overflow:visible;font:11px system-ui,sans-serif;fill:currentColor}` +
	`.lbp svg{overflow:visible}` +
	`.lbp path{fill:none;stroke:currentColor;vector-effect:non-scaling-stroke}` +
	`.lbp .e{text-anchor:end}.lbp .m{text-anchor:middle}.lbp .h{font-weight:600}.lbp .t{fill-opacity:.75}` +
	`.lbp .grid{stroke-opacity:.14}` +
	`.lbp .band{fill:var(--plot-fault,#b8860b);fill-opacity:.13;stroke:var(--plot-fault,#b8860b);stroke-opacity:.3}` +
	`.lbp .bar{stroke:var(--plot-fault,#b8860b);stroke-width:4}` +
	`.lbp .tip{stroke-width:14;stroke-opacity:0;pointer-events:stroke}` +
	`.lbp .gap{stroke:var(--plot-2,#d55e00);stroke-width:4}.lbp .line{stroke-width:1.5}` +
	`.lbp .bad{stroke:var(--plot-bad,#e0304a)}.lbp .bad.area{fill:var(--plot-bad,#e0304a)}` +
	`.lbp .dot{stroke-width:4;stroke-linecap:round}.lbp .box{stroke-width:5;stroke-linecap:square}` +
	`.lbp .area{fill-opacity:.3}` +
	`.lbp .p50{stroke-width:2.2}.lbp .p90{stroke-width:1.2}.lbp .p99{stroke-width:1.5;stroke-dasharray:5 2}.lbp .max{stroke-width:1.5;stroke-dasharray:1 3}` +
	`.lbp .c0{stroke-opacity:.65;stroke-width:1.3}`

// colours are series', each to be told apart from the others and to be seen on white and on black.
var colours = [...]string{"#2b8cd6", "#d55e00", "#009e73", "#b05ca0", "#8a7a00", "#7a7f87"} //nolint:gochecknoglobals // a table that nobody changes

// canvas is a picture that is being drawn, from top to bottom.
type canvas struct {
	s                  *subject
	height             int
	marks, data, texts strings.Builder // beside the data; stretched; over it
	top                int             // of the data
}

// pixels is how wide text is at most. Chinese characters, and what is as wide, take twice as much.
func pixels(s string) int {
	n := 0
	for _, r := range s {
		n += character
		if r >= 0x2e80 {
			n += character
		}
	}
	return n
}

func newCanvas(s *subject) *canvas { return &canvas{s: s} }

// x is where an instant is, in columns.
func (s *subject) x(at time.Duration) int {
	return int((at.Seconds()-s.from)/(s.to-s.from)*columns + 0.5)
}

// path draws what d says in a class.
func (c *canvas) path(class, d string) {
	if d != "" {
		fmt.Fprintf(&c.data, `<path class="%s" d="%s"/>`, class, d)
	}
}

// text writes over the data at x, in columns, to its right, or to its left if the narrowest page
// has more room there, or at the right edge.
func (c *canvas) text(class string, x, y int, s string) {
	before, width := x*narrow/columns, pixels(s)
	if before+width > narrow {
		class += " e"
		if before < width {
			x = columns
		}
	}
	fmt.Fprintf(&c.texts, `<text class="%s" x="%s" y="%d">%s</text>`, class, percent(x), y, escape(s))
}

func percent(x int) string {
	return strconv.FormatFloat(float64(x)*100/columns, 'f', -1, 32) + "%"
}

// mark writes a mark of the y axis beside y, and draws its line.
func (c *canvas) mark(y int, s string) {
	fmt.Fprintf(&c.marks, `<text class="e t" x="-6" y="%d">%s</text>`, y+4, escape(s))
	c.path("grid", fmt.Sprintf("M0 %dH%d", y, columns))
}

// A sign is one entry of a legend: a stroke of a class, from its middle.
type sign struct{ class, d, name string }

// The strokes of signs.
const (
	spot   = "h0"
	tick   = "m0-3v6"
	dashed = "m-9 0h18"
)

// legend writes entries in as many lines as the narrowest page needs.
func (c *canvas) legend(signs []sign) {
	x := 0
	y := c.height + 12
	for _, g := range signs {
		width := 24 + pixels(g.name) + 8
		if x > 0 && x+width > narrow {
			x, y = 0, y+16
		}
		fmt.Fprintf(&c.marks, `<path class="%s" d="M%d %d%s"/><text x="%d" y="%d">%s</text>`, g.class, x+10, y-4, g.d, x+24, y, escape(g.name))
		x += width
	}
	c.height = y + 8
}

// A panel is a part of the picture with a y axis of its own.
type panel struct{ top, bottom int }

// panel adds a panel below all else.
func (c *canvas) panel(title string, height int) panel {
	c.text("h", 0, c.height+14, title)
	p := panel{c.height + 22, c.height + 22 + height}
	c.height = p.bottom + 4
	return p
}

// y is where the part of the panel's height is, from 0 at its bottom to 1.
func (p panel) y(part float64) int {
	return p.bottom - int(min(max(part, 0), 1)*float64(p.bottom-p.top)+0.5)
}

// plot ends the picture.
func (c *canvas) plot(name, title, summary string) report.Plot {
	at, texts := ticks(c.s.from, c.s.to, 7)
	var lines strings.Builder
	for i, t := range at {
		x := int((t-c.s.from)/(c.s.to-c.s.from)*columns + 0.5)
		fmt.Fprintf(&lines, "M%d %dV%d", x, c.top, c.height)
		class := "m t"
		if x > columns*19/20 {
			class = "e t"
		}
		fmt.Fprintf(&c.texts, `<text class="%s" x="%s" y="%d">%s%s</text>`, class, percent(x), c.height+14, texts[i], cmp.Or(c.s.unit, " s"))
	}
	c.path("grid", lines.String())
	bands := c.s.bands(c.top, c.height)
	c.height += 20
	if c.s.simulated() {
		title += c.s.Language.Say(" (simulated time)")
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="lbp" role="img" aria-label="%s" width="100%%" height="%d">`, escape(title+c.s.Language.Say(". ")+summary), c.height)
	fmt.Fprintf(&b, `<title>%s</title><style>%s`, escape(title), style)
	for i, colour := range colours {
		fmt.Fprintf(&b, `.lbp .c%d{stroke:var(--plot-%d,%s)}.lbp .c%[1]d.area{fill:var(--plot-%[1]d,%[3]s)}`, i+1, i+1, colour)
	}
	fmt.Fprintf(&b, `</style>%s`, c.marks.String())
	fmt.Fprintf(&b, `<svg width="100%%" height="%[2]d" viewBox="0 0 %[1]d %[2]d" preserveAspectRatio="none">%[3]s%[4]s</svg>%[5]s</svg>`,
		columns, c.height, bands, c.data.String(), c.texts.String())
	return report.Plot{Name: name, Title: title, SVG: b.String(), Summary: summary}
}

// longest is how many characters of a name are shown.
const longest = 32

// escape makes text harmless in HTML and XML.
func escape(s string) string { return html.EscapeString(s) }

// named makes a name from outside harmless and short.
func named(s string) string { return report.Brief(s, longest) }
