package picture

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// px is a length on the page with no more digits than the eye sees.
func px(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// esc makes text harmless in markup, as content and as an attribute.
func esc(s string) string { return html.EscapeString(s) }

// brief makes a name from outside harmless, and short enough for a label.
func brief(s string, most int) string {
	s = show(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// longest is how many bytes of a string from outside are looked at: it may be very long.
const longest = 1 << 10

func clip(s string) string { return s[:min(len(s), longest)] }

// show makes a name from outside harmless, and short enough for a line.
func show(s string) string { return report.Show(clip(s)) }

// tell says what an event is.
func tell(e histories.Event) string {
	e.F, e.Key, e.Value, e.Node, e.Err = histories.F(clip(string(e.F))), clip(e.Key), clip(e.Value), clip(e.Node), clip(e.Err)
	return report.Tell(e, true)
}

// sent says what crossed the wire.
func sent(x histories.Exchange) string {
	x.Node, x.Command, x.Reply, x.Note = clip(x.Node), clip(x.Command), clip(x.Reply), clip(x.Note)
	return report.Wire(x)
}

// width estimates how wide text is in a sans-serif of 11 px. It is rather too wide than too
// narrow: what is said to fit must fit.
func width(s string) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100 && (r <= 0x11ff || r >= 0x2e80): // CJK and wider
			w += 11.5
		case strings.ContainsRune("il.,:;'|!j()[]{} tfI", r):
			w += 3.8
		case strings.ContainsRune("mwMW@%…→—", r):
			w += 10
		case r >= 'A' && r <= 'Z':
			w += 7.8
		default:
			w += 6.4
		}
	}
	return w
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// wrap breaks text at spaces into lines of at most so many px.
func wrap(s string, most float64) []string {
	var lines, words []string
	for _, word := range strings.Fields(s) {
		word = brief(word, 36)
		if n := len(words); n > 0 && strings.TrimRight(word, ".,;:") == "s" {
			words[n-1] += "\u00a0" + word // seconds stay with their number
			continue
		}
		words = append(words, word)
	}
	line := ""
	for _, word := range words {
		if line != "" && width(line+" "+word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
