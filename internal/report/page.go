package report

import (
	"io"
	"strings"

	"github.com/lockbench/lockbench/checker"
)

// Tone is how a part of a page is meant.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Good
	Bad
	Doubtful
	Strong
	Quiet
)

// Page collects lines of text for reports that other rooms draw. What it is given may come
// from outside: it makes it harmless to a terminal.
type Page struct{ p printer }

// NewPage returns an empty page of that style. Without a width it has 100 columns.
func NewPage(style Style) *Page {
	if style.Width <= 0 {
		style.Width = 100
	}
	return &Page{printer{style: style}}
}

// Width is how many columns the page has.
func (g *Page) Width() int { return g.p.style.Width }

// Line adds a line that is not wrapped.
func (g *Page) Line(parts ...string) {
	g.p.line("%s", strings.TrimRight(strings.Join(parts, ""), " "))
}

// Para adds text behind a prefix, wrapped to the width of the page. Further lines begin
// under the first word of the text.
func (g *Page) Para(prefix, text string, tone Tone) {
	g.p.para(prefix, prose(text), func(s string) string { return g.Paint(tone, s) })
}

// Conclude adds the verdict. Of a page of a terse style it is all that is written.
func (g *Page) Conclude(verdict string) { g.p.conclude(prose(verdict)) }

// Full reports whether what is told in sum is to be told one by one, too.
func (g *Page) Full() bool { return g.p.style.Volume == Full }

// Cell is text made harmless, filled with spaces up to a width, and painted.
func (g *Page) Cell(text string, width int, tone Tone) string {
	text = clean(text)
	return g.Paint(tone, text) + strings.Repeat(" ", max(width-columns(text), 0))
}

// Paint colours text, if the page has colours.
func (g *Page) Paint(tone Tone, s string) string {
	code := map[Tone]string{Good: "32", Bad: "1;31", Doubtful: "33", Strong: "1", Quiet: "2"}[tone]
	if code == "" {
		return s
	}
	return g.p.colour(code, s)
}

// WriteTo writes the page.
func (g *Page) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, g.p.text())
	return int64(n), err
}

// Clean makes lines from outside harmless to a terminal: what does not print is escaped, except
// the ends of lines, and what is longer than any sentence is cut.
func Clean(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = brief(l, longestProse)
	}
	return strings.Join(lines, "\n")
}

// Label is how reports name a property.
func Label(p checker.Property) string { return label(p) }
