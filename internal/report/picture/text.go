package picture

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
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
func tell(e histories.Event, in language.Language) string {
	e.F, e.Key, e.Value, e.Node, e.Err = histories.F(clip(string(e.F))), clip(e.Key), clip(e.Value), clip(e.Node), clip(e.Err)
	return report.Tell(e, true, in)
}

// sent says what crossed the wire.
func sent(x histories.Exchange, in language.Language) string {
	x.Node, x.Command, x.Reply, x.Note = clip(x.Node), clip(x.Command), clip(x.Reply), clip(x.Note)
	return report.Wire(x, in)
}

// width estimates how wide text is in a sans-serif of 11 px. It is rather too wide than too
// narrow: what is said to fit must fit.
func width(s string) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case wide(r):
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

// wide reports whether a character is Chinese, or as wide.
func wide(r rune) bool { return r >= 0x1100 && (r <= 0x11ff || r >= 0x2e80) }

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string, in language.Language) string {
	return words.Capital(s) + in.Say(".")
}

// wrap breaks text into lines of at most so many px: at spaces, and between Chinese characters.
func wrap(s string, most float64) []string {
	var lines []string
	line := ""
	for _, p := range pieces(s) {
		gap := " "
		if p.joined {
			gap = ""
		}
		if line != "" && width(line+gap+p.text) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += gap
		}
		line += p.text
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// A piece is text within which no line ends.
type piece struct {
	text   string
	joined bool // no space is before it
}

func pieces(s string) []piece {
	var all []piece
	for _, word := range strings.Fields(s) {
		if n := len(all); n > 0 && strings.TrimRight(word, ".,;:") == "s" {
			all[n-1].text += "\u00a0" + word // seconds stay with their number
			continue
		}
		letters, start := []rune(word), 0
		for i := 1; i <= len(letters); i++ {
			if i == len(letters) || parts(letters[i-1], letters[i]) {
				all = append(all, piece{brief(string(letters[start:i]), 36), start > 0})
				start = i
			}
		}
	}
	return all
}

// parts reports whether a line may end between two characters: beside a Chinese one, but not before a sign that ends something, nor behind
// one that begins it.
func parts(before, after rune) bool {
	return (wide(before) || wide(after)) && !strings.ContainsRune("，。；：、）”？！…", after) && !strings.ContainsRune("（“", before)
}
