package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockbench/lockbench/checker"
)

// printer collects lines that keep to the style. Strings from outside go through show
// or clean before they get here.
type printer struct {
	b       strings.Builder
	style   Style
	verdict string // its lines, once it was told
}

// conclude tells what it all comes to.
func (p *printer) conclude(sentence string) {
	before := p.b.Len()
	p.para("Verdict: ", sentence, p.bold)
	p.verdict = p.b.String()[before:]
}

// text is everything that was told, or if the style is terse the verdict.
func (p *printer) text() string {
	if p.style.Volume == Terse && p.verdict != "" {
		return p.verdict
	}
	return p.b.String()
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *printer) colour(code, s string) string {
	if !p.style.Colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) bold(s string) string { return p.colour("1", s) }
func (p *printer) red(s string) string  { return p.colour("1;31", s) }
func (p *printer) dim(s string) string  { return p.colour("2", s) }

// word is a verdict of which nothing was expected.
func (p *printer) word(v checker.Verdict) string {
	switch v {
	case checker.Fail, checker.Disagreement:
		return p.red(word(v))
	case checker.Pass:
		return p.colour("32", word(v))
	case checker.NotApplicable:
		return word(v)
	}
	return p.colour("33", word(v))
}

// judgedWord is a verdict whose colour says whether it was expected. Unknown is never painted as a pass.
func (p *printer) judgedWord(v checker.Verdict, met bool) string {
	switch {
	case met && (v == checker.Pass || v == checker.Fail):
		return p.colour("32", word(v))
	case !met && v == checker.Pass:
		return p.red(word(v))
	}
	return p.word(v)
}

// word is a verdict as reports print it.
func word(v checker.Verdict) string {
	switch v {
	case checker.Fail:
		return "FAIL"
	case checker.Pass:
		return "pass"
	case checker.NotApplicable:
		return "n/a"
	case checker.Disagreement:
		return "ERROR"
	}
	return "unknown"
}

// para writes text behind prefix, wrapped to the width. Further lines begin with as
// many spaces as prefix has columns. paint colours each line's part of the text; nil
// leaves it as it is.
func (p *printer) para(prefix, text string, paint func(string) string) {
	if paint == nil {
		paint = func(s string) string { return s }
	}
	indent := strings.Repeat(" ", columns(prefix))
	for i, part := range wrap(text, p.style.Width-len(indent)) {
		if i > 0 {
			prefix = indent
		}
		p.line("%s", strings.TrimRight(prefix+paint(part), " "))
	}
}

// hang writes text with every line but the first below the text of the lines that have a head.
func (p *printer) hang(text string) {
	const indent = "         "
	for i, part := range wrap(text, p.style.Width-len(indent)) {
		if i > 0 {
			part = indent + part
		}
		p.line("%s", part)
	}
}

// narrowest is the fewest columns that text is wrapped to, however narrow the terminal.
const narrowest = 10

// wrap breaks text into lines of at most width columns, between words where it can. Runs
// of spaces inside a line stay. There is at least one line.
func wrap(text string, width int) []string {
	width = max(width, narrowest)
	var lines []string
	rest := []rune(strings.TrimSpace(text))
	for len(rest) > width {
		cut := width
		for cut > 0 && rest[cut] != ' ' {
			cut--
		}
		if cut == 0 {
			cut = width // one long word
		}
		lines = append(lines, strings.TrimRight(string(rest[:cut]), " "))
		rest = []rune(strings.TrimLeft(string(rest[cut:]), " "))
	}
	return append(lines, string(rest))
}

// columns is the width of s on a terminal, without the printer's own colours.
func columns(s string) int {
	n := 0
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			_, s, _ = strings.Cut(s, "m")
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		n++
	}
	return n
}

// pad fills s with spaces up to width columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-columns(s), 0))
}

// How many characters a report shows of a name, such as a key, and of a story.
const (
	longestName  = 120
	longestProse = 3000
)

// show makes a string from outside harmless to a terminal and short.
func show(s string) string { return brief(s, longestName) }

// prose makes sentences that quote strings from outside harmless and not too long.
func prose(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = show(w)
	}
	return shorten(strings.Join(words, " "), longestProse)
}

// brief cleans and shortens s. Of a long s it looks at the beginning alone: cleaning makes
// nothing shorter.
func brief(s string, most int) string {
	return shorten(clean(s[:min(len(s), utf8.UTFMax*(most+1))]), most)
}

func shorten(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// clean escapes what does not print or changes how its surroundings print: control
// characters, terminal escapes, marks of writing direction, and bytes that are no UTF-8.
func clean(s string) string {
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1, r < utf8.RuneSelf && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}
