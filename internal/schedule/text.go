package schedule

import (
	"fmt"
	"strings"
)

// first returns the first line of the text form.
func first() string { return fmt.Sprintf("lockbench schedule %d", Version) }

// width is how long a line of prose may be.
const width = 110

// String returns the schedule's text, which Parse reads: its head, a blank line, its steps, the
// steps with each remedy, and what is expected.
func (s Schedule) String() string {
	var b strings.Builder
	b.WriteString(first() + "\n")
	for _, f := range fields() {
		switch {
		case f.flag != nil && *f.flag(&s):
			b.WriteString(f.name + "\n")
		case f.flag == nil && f.write(&s) != "":
			prose(&b, f.name+" "+f.write(&s))
		}
	}
	gaps(&b, s.Gaps)
	steps(&b, s.Steps)
	for _, r := range s.Remedies {
		b.WriteString("\n")
		prose(&b, strings.TrimSpace("remedy "+r.Name+" "+r.Title))
		gaps(&b, r.Gaps)
		steps(&b, r.Steps)
	}
	if len(s.Expect) > 0 {
		b.WriteString("\n")
	}
	for _, e := range s.Expect {
		b.WriteString(e.String() + "\n")
		if e.Note != "" {
			prose(&b, "  note "+e.Note)
		}
	}
	return b.String()
}

func gaps(b *strings.Builder, all []Gap) {
	for _, g := range all {
		prose(b, "gap "+g.Backend+" "+g.Why)
	}
}

func steps(b *strings.Builder, all []Step) {
	if len(all) > 0 {
		b.WriteString("\n")
	}
	for _, p := range all {
		b.WriteString(p.String() + "\n")
	}
}

// String returns the expectation in one line, without its note.
func (e Expect) String() string {
	words := []string{"expect"}
	for _, part := range []struct{ word, value string }{{"", e.Lock}, {"guard", e.Guard}, {"under", e.Remedy}} {
		if part.value == "" {
			continue
		}
		if part.word != "" {
			words = append(words, part.word)
		}
		words = append(words, part.value)
	}
	for _, part := range []struct {
		word       string
		properties []string
	}{{"fail", e.Fail}, {"unknown", e.Unknown}} {
		if len(part.properties) > 0 {
			words = append(append(words, part.word), part.properties...)
		}
	}
	return strings.Join(words, " ")
}

// prose writes a line, and what does not fit into it into lines of their own that are indented.
func prose(b *strings.Builder, line string) {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	length := 0
	for i, word := range strings.Fields(line) {
		switch {
		case i == 0:
			b.WriteString(indent)
			length = len(indent)
		case length+1+len(word) > width && i > 1 && word[0] != '#' && word != note:
			b.WriteString("\n" + indent + "  ")
			length = len(indent) + 2
		default:
			b.WriteString(" ")
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	b.WriteString("\n")
}
