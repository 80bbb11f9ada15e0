package demo

import (
	"fmt"
	"strings"
	"time"
)

// labels is how many columns the labels of a step's rows take.
const labels = 14

// indent is where the rows of a step begin.
const indent = 5

func (t *teller) line(parts ...string) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.out, strings.TrimRight(strings.Join(parts, " "), " "))
	}
}

// para writes text behind prefix, wrapped to the width. paint colours the text, line by line.
func (t *teller) para(prefix, text string, paint func(string) string) {
	if paint == nil {
		paint = t.plain
	}
	left := columns(prefix)
	for _, part := range wrap(text, t.style.Width-left) {
		t.line(prefix + paint(part))
		prefix = strings.Repeat(" ", left)
	}
}

// paint is para with a red word between prefix and text.
func (t *teller) paint(prefix, word, gap, text string) {
	left := columns(prefix + word + gap)
	for i, part := range wrap(text, t.style.Width-left) {
		if i == 0 {
			t.line(prefix + t.red(word) + gap + part)
			continue
		}
		t.line(strings.Repeat(" ", left) + part)
	}
}

// row writes a row of a step.
func (t *teller) row(label, text string, paint func(string) string) {
	prefix := strings.Repeat(" ", indent) + pad(label, labels)
	if columns(label) >= labels {
		t.line(strings.Repeat(" ", indent) + label)
		prefix = strings.Repeat(" ", indent+labels)
	}
	t.para(prefix, text, paint)
}

// rule writes the heading of a part.
func (t *teller) rule(text string) {
	t.line("")
	rest := strings.Repeat("─", max(t.style.Width-columns(text)-4, 0))
	t.line(t.bold("── " + text + " " + rest))
}

// wait lets the reader read.
func (t *teller) wait() {
	if t.pause != nil && t.err == nil {
		t.err = t.pause(t.lang.text("pause.prompt"))
	}
}

func (t *teller) colour(code, s string) string {
	if !t.style.Colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *teller) plain(s string) string  { return s }
func (t *teller) bold(s string) string   { return t.colour("1", s) }
func (t *teller) dim(s string) string    { return t.colour("2", s) }
func (t *teller) green(s string) string  { return t.colour("32", s) }
func (t *teller) red(s string) string    { return t.colour("1;31", s) }
func (t *teller) yellow(s string) string { return t.colour("1;33", s) }

// seconds shows an instant or a duration with milliseconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// trimmed shows a duration in seconds with no more digits than it has.
func trimmed(d time.Duration) string { return fmt.Sprint(d.Seconds()) }
