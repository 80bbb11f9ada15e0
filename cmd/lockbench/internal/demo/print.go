package demo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/report"
)

// widest is how many columns a demo is told in, however wide the terminal.
const widest = 100

// labels is how many columns the labels of a step's rows take.
const labels = 14

// indent is where the rows of a step begin.
const indent = 5

// printer writes slides on a terminal. After its first error it writes nothing.
type printer struct {
	out   io.Writer
	lang  Language
	style report.Style
	err   error
}

func newPrinter(out io.Writer, lang Language, style report.Style) *printer {
	if style.Width <= 0 || style.Width > widest {
		style.Width = widest
	}
	return &printer{out: out, lang: lang, style: style}
}

// slide writes the blocks of s. Proofs that follow each other are columns.
func (p *printer) slide(s slide) {
	names, marks := 0, 0
	for _, b := range s.blocks {
		if b.kind == proof {
			names, marks = max(names, columns(b.label)), max(marks, columns(b.mark))
		}
	}
	for _, b := range s.blocks {
		if b.kind == proof {
			b.label, b.mark = pad(b.label, names), pad(b.mark, marks)
		}
		p.block(b)
	}
}

func (p *printer) block(b block) {
	switch b.kind {
	case gap:
		p.line("")
	case para:
		p.para(b.label, b.text, b.tone)
	case command:
		p.line(b.label + " " + b.text)
	case rule:
		p.line("")
		rest := strings.Repeat("─", max(p.style.Width-columns(b.text)-4, 0))
		p.line(p.colour("── "+b.text+" "+rest, strong))
	case step:
		p.line("")
		p.para(fmt.Sprintf("%3s  %s  ", b.label, pad(b.mark, len("00.000"))), b.text, b.tone)
	case row:
		p.row(b.label, b.text, b.tone)
	case proof:
		p.proof(b)
	case heads, pair:
		p.pair(b)
	}
}

// question writes a question and what there is to choose from.
func (p *printer) question(q *quiz) {
	p.line("")
	p.para("  ?  ", p.lang.text("question", "question", q.text), asking)
	for i, choice := range q.choices {
		p.para("     "+letter(i)+") ", choice, plain)
	}
}

func (p *printer) line(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, strings.TrimRight(text, " "))
	}
}

// para writes text behind prefix, wrapped to the width. The tone is that of the text, line by line.
func (p *printer) para(prefix, text string, tone tone) {
	left := columns(prefix)
	for _, part := range wrap(text, p.style.Width-left) {
		p.line(prefix + p.colour(part, tone))
		prefix = strings.Repeat(" ", left)
	}
}

// row writes a row of a step.
func (p *printer) row(label, text string, tone tone) {
	prefix := strings.Repeat(" ", indent) + pad(label, labels)
	if columns(label) >= labels {
		p.line(strings.Repeat(" ", indent) + label)
		prefix = strings.Repeat(" ", indent+labels)
	}
	p.para(prefix, text, tone)
}

// proof writes a property that was violated, the steps that prove it, and what that means.
func (p *printer) proof(b block) {
	word, before, after := "FAIL", "  "+b.label+"  ", "  "+b.mark+"  "
	left := columns(before + word + after)
	for i, part := range wrap(b.text, p.style.Width-left) {
		if i == 0 {
			p.line(before + p.colour(word, bad) + after + part)
			continue
		}
		p.line(strings.Repeat(" ", left) + part)
	}
}

// pair writes two columns, side by side.
func (p *printer) pair(b block) {
	if b.kind == pair {
		p.line("")
		p.para(fmt.Sprintf("%3s  ", b.label), b.text, strong)
	}
	width := (p.style.Width - indent - 3) / 2
	left, right := p.column(b.left, width), p.column(b.right, width)
	for i := range max(len(left), len(right)) {
		l, r := cell{}, cell{}
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		fill := strings.Repeat(" ", max(width-columns(l.text), 0))
		p.line(strings.Repeat(" ", indent) + p.colour(l.text, l.tone) + fill + " │ " + p.colour(r.text, r.tone))
	}
}

// column wraps cells to a width.
func (p *printer) column(cells []cell, width int) []cell {
	var all []cell
	for _, c := range cells {
		for _, part := range wrap(c.text, width) {
			all = append(all, cell{part, c.tone})
		}
	}
	return all
}

// colour paints s, where the terminal can.
func (p *printer) colour(s string, t tone) string {
	code := map[tone]string{strong: "1", quiet: "2", good: "32", bad: "1;31", asking: "1;33"}[t]
	if !p.style.Colour || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// seconds shows an instant or a duration with milliseconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// trimmed shows a duration in seconds with no more digits than it has.
func trimmed(d time.Duration) string { return fmt.Sprint(d.Seconds()) }
