package demo

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many columns s takes on a terminal: two for each character of full width.
// s has no control characters and no colours.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case wide(r):
		return 2
	}
	return 1
}

// wide reports whether r has full width. What is ambiguous, such as an arrow, is narrow, as
// terminals have it unless told otherwise.
func wide(r rune) bool {
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}

// pad fills s with spaces up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-columns(s), 0)) }

// narrowest is the fewest columns that text is wrapped to, however narrow the terminal.
const narrowest = 24

// wrap breaks text into lines of at most n columns: at spaces, and before or after any
// character of full width, but no line begins with a closing mark or ends with an opening
// one. A word that is longer than a line is cut. There is at least one line.
func wrap(text string, n int) []string {
	n = max(n, narrowest)
	rest := []rune(strings.TrimSpace(text))
	var lines []string
	for len(rest) > 0 {
		end, used := 0, 0 // how much fits
		for end < len(rest) && used+columnsOf(rest[end]) <= n {
			used += columnsOf(rest[end])
			end++
		}
		if end < len(rest) {
			cut := end
			for cut > 0 && !breaks(rest[cut-1], rest[cut]) {
				cut--
			}
			if cut > 0 {
				end = cut
			}
		}
		lines = append(lines, strings.TrimRight(string(rest[:end]), " "))
		rest = []rune(strings.TrimLeft(string(rest[end:]), " "))
	}
	if lines == nil {
		return []string{""}
	}
	return lines
}

// breaks reports whether a line may end after a and the next begin with b.
func breaks(a, b rune) bool {
	const closing, opening = "，。、；：？！）」』》…", "（「『《"
	switch {
	case strings.ContainsRune(closing, b) || strings.ContainsRune(opening, a):
		return false
	case a == ' ' || b == ' ':
		return true
	}
	return wide(a) || wide(b)
}
