package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says what is wrong with a line of a schedule.
type Error struct {
	Line int // counting from 1
	Text string
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, %q: %v", e.Line, e.Text, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// maxText bounds the text of a schedule.
const maxText = 1 << 20

// Parse reads a schedule. What is wrong with it is an *Error, or several that are joined: of
// each line the first.
func Parse(src string) (Schedule, error) {
	if len(src) > maxText {
		return Schedule{}, fmt.Errorf("want a schedule of %d bytes at most, found %d", maxText, len(src))
	}
	lines, err := split(src)
	if err != nil {
		return Schedule{}, err
	}
	p := parser{lines: map[string][]line{}, fields: fields()}
	p.steps = &p.s.Steps
	p.gaps = &p.s.Gaps
	var wrong []error
	for _, l := range lines[1:] {
		if err := p.line(l); err != nil {
			wrong = append(wrong, &Error{l.number, l.shown(), err})
		}
	}
	if len(wrong) == 0 {
		if err := p.s.Check(); err != nil {
			return Schedule{}, p.inLine(err)
		}
	}
	return p.s, errors.Join(wrong...)
}

// line is one line with those that continue it.
type line struct {
	number int
	indent bool // it belongs to the line above
	text   string
}

// shown is the line as errors quote it.
func (l line) shown() string {
	if most := 60; len(l.text) > most {
		return strings.ToValidUTF8(l.text[:most], "") + "…"
	}
	return l.text
}

// split joins what continues a line to it, and leaves out blank lines and comments.
func split(src string) ([]line, error) {
	if !utf8.ValidString(src) {
		return nil, errors.New("want text in UTF-8, found something else")
	}
	var lines []line
	scanner := bufio.NewScanner(strings.NewReader(src))
	scanner.Buffer(nil, maxText+1)
	for n := 1; scanner.Scan(); n++ {
		raw := scanner.Text()
		words := strings.Fields(raw)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		indent := raw[0] == ' ' || raw[0] == '\t'
		if at := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' }); at > 0 && !indent && !isProse(words[0]) {
			words = words[:at]
		}
		if strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\r' }) {
			return nil, &Error{n, strings.Join(words, " "), errors.New("it has a control character")}
		}
		l := line{number: n, indent: indent, text: strings.Join(words, " ")}
		if l.indent && words[0] != note {
			if len(lines) < 2 {
				return nil, &Error{n, l.shown(), errors.New("it is indented, and there is no line that it could continue")}
			}
			lines[len(lines)-1].text += " " + l.text
			continue
		}
		lines = append(lines, l)
	}
	if len(lines) == 0 || lines[0].text != first() {
		found := "nothing"
		if len(lines) > 0 {
			found = fmt.Sprintf("%q", lines[0].shown())
		}
		return nil, fmt.Errorf("want %q in the first line, found %s: it is no schedule, or one of another version", first(), found)
	}
	return lines, scanner.Err()
}

// note is the word before what a case shows.
const note = "note"

// isProse reports whether a line may have a # that begins no comment.
func isProse(word string) bool {
	return slices.Contains([]string{"title", "source", "why", "in-process", "gap", "remedy", note}, word)
}

// ParseSteps reads steps alone, one a line or several with a semicolon between them, of so many
// clients. What is wrong with one is an *Error, whose line counts the steps.
func ParseSteps(clients int, src string) ([]Step, error) {
	names := Schedule{Clients: clients}.Names()
	var steps []Step
	for i, text := range strings.FieldsFunc(src, func(r rune) bool { return r == ';' || r == '\n' }) {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := parseStep(text, names)
		if err != nil {
			return nil, &Error{i + 1, text, err}
		}
		steps = append(steps, p)
	}
	return steps, nil
}

// parser reads line by line.
type parser struct {
	s      Schedule
	began  bool // the steps have begun: the head is over
	steps  *[]Step
	gaps   *[]Gap
	fields []field
	seen   []string // words of the head that were there
	// lines are those of the steps, by remedy.
	lines  map[string][]line
	remedy string
}

// inLine is err with the line of the step that it is about.
func (p *parser) inLine(err error) error {
	if wrong, ok := errors.AsType[*StepError](err); ok {
		l := p.lines[wrong.Remedy][wrong.N-1]
		return &Error{l.number, l.shown(), wrong.Err}
	}
	return err
}

func (p *parser) line(l line) error {
	word, rest, _ := strings.Cut(l.text, " ")
	switch word {
	case note:
		if n := len(p.s.Expect); l.indent && n > 0 && p.s.Expect[n-1].Note == "" && rest != "" {
			p.s.Expect[n-1].Note = rest
			return nil
		}
		return errors.New("a note belongs, indented, below the line that begins with expect")
	case "gap":
		backend, why, ok := strings.Cut(rest, " ")
		if !ok {
			return errors.New("want a backend and why it cannot play the steps")
		}
		*p.gaps = append(*p.gaps, Gap{backend, why})
		return nil
	case "remedy":
		name, title, _ := strings.Cut(rest, " ")
		if name == "" {
			return errors.New("want the name of the remedy after it")
		}
		p.s.Remedies = append(p.s.Remedies, Remedy{Name: name, Title: title})
		r := &p.s.Remedies[len(p.s.Remedies)-1]
		p.began, p.remedy, p.steps, p.gaps = true, name, &r.Steps, &r.Gaps
		return nil
	case "expect":
		e, err := parseExpect(strings.Fields(rest))
		p.began = true
		p.s.Expect = append(p.s.Expect, e)
		return err
	}
	all := p.fields
	if i := slices.IndexFunc(all, func(f field) bool { return f.name == word }); i >= 0 {
		return p.head(all[i], rest)
	}
	if !p.began && !p.isStep(word) {
		var known []string
		for _, f := range all {
			known = append(known, f.name)
		}
		return unknown("word of the head or verb", word, append(append(known, "gap", "remedy", "expect"), verbNames()...))
	}
	p.began = true
	step, err := parseStep(l.text, p.s.Names())
	*p.steps = append(*p.steps, step)
	p.lines[p.remedy] = append(p.lines[p.remedy], l)
	return err
}

func (p *parser) isStep(word string) bool {
	_, verb := formOf(Verb(word))
	return verb || isName(strings.TrimSuffix(word, ":"))
}

func (p *parser) head(f field, value string) error {
	switch {
	case p.began:
		return fmt.Errorf("%s belongs into the head, before the first step", f.name)
	case slices.Contains(p.seen, f.name):
		return fmt.Errorf("%s is there twice", f.name)
	case f.flag != nil && value != "":
		return fmt.Errorf("%s has no value, and found %q", f.name, value)
	case f.flag == nil && value == "":
		return fmt.Errorf("want a value after %s", f.name)
	}
	p.seen = append(p.seen, f.name)
	if f.flag != nil {
		*f.flag(&p.s) = true
		return nil
	}
	return f.read(&p.s, value)
}

// parseExpect reads: [LOCK] [guard GUARD] [under REMEDY] [fail PROPERTY...] [unknown PROPERTY...].
func parseExpect(words []string) (Expect, error) {
	var e Expect
	keywords := []string{"guard", "under", "fail", "unknown"}
	if len(words) > 0 && !slices.Contains(keywords, words[0]) {
		e.Lock, words = words[0], words[1:]
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		end := slices.IndexFunc(words, func(w string) bool { return slices.Contains(keywords, w) })
		if end < 0 {
			end = len(words)
		}
		values := words[:end:end]
		words = words[end:]
		if !slices.Contains(keywords, word) {
			return e, unknown("word of an expectation", word, keywords)
		}
		if len(values) == 0 {
			return e, fmt.Errorf("want a value after %s", word)
		}
		var one *string
		switch word {
		case "guard":
			one = &e.Guard
		case "under":
			one = &e.Remedy
		case "fail":
			e.Fail = append(e.Fail, values...)
			continue
		case "unknown":
			e.Unknown = append(e.Unknown, values...)
			continue
		}
		if len(values) > 1 || *one != "" {
			return e, fmt.Errorf("%s: want one name, found %q", word, strings.Join(values, " "))
		}
		*one = values[0]
	}
	return e, nil
}
