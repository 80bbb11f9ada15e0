package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// asciiTerminal is a terminal that is written to in ASCII, as far as that can say the same in as many columns. Letters
// of other languages are left as they are: whoever asks for them can see them.
type asciiTerminal struct {
	file *os.File

	mu   sync.Mutex
	rest []byte // the beginning of a rune whose other bytes are still to come
}

// onTerminal is f, or an asciiTerminal if it is a terminal whose locale does not say that it can show more than ASCII.
func onTerminal(f *os.File) io.Writer {
	if unicodeLocale() || !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &asciiTerminal{file: f}
}

// Write writes b, and reports it as written when at most the beginning of a rune is left.
func (p *asciiTerminal) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Concat(p.rest, b)
	whole := len(all)
	for i := 1; i < utf8.UTFMax && i <= len(all); i++ {
		if last := all[len(all)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole -= i
			}
			break
		}
	}
	p.rest = slices.Clone(all[whole:])
	if _, err := p.file.WriteString(inASCII(string(all[:whole]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// WriteString is Write.
func (p *asciiTerminal) WriteString(s string) (int, error) { return p.Write([]byte(s)) }

// inASCII is s with the signs of reports and progress in ASCII, each by one character.
func inASCII(s string) string { return asciiSigns.Replace(s) }

var asciiSigns = strings.NewReplacer( //nolint:gochecknoglobals // nothing changes it
	"█", "#", "░", ".", "─", "-", "━", "#", "├", "|", "┤", "|", "✗", "x", "✓", "v", "▷", ">", "†", "+", "┃", "!", "│", "|", "═", "=",
	"·", "-", "…", "~", "→", ">", "←", "<", "–", "-", "—", "-", "−", "-", "≤", "<", "≥", ">", "×", "x", "‹", "<", "›", ">",
)
