package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Style says how a text report may look.
type Style struct {
	Colour bool
	Width  int // columns; 0 means 100
}

// longStory is how many events a timeline may have before only its witness is told.
const longStory = 200

// Text writes r for people: what happened, what was judged and why, what was expected,
// and how to see it again. It reads the same without colour.
func Text(w io.Writer, r Run, style Style) error {
	if style.Width <= 0 {
		style.Width = 100
	}
	p := &printer{style: style}
	p.head(r)
	p.timeline(r)
	p.verdicts(r)
	p.end(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct {
	b     strings.Builder
	style Style
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *printer) colour(code, s string) string {
	if !p.style.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) bold(s string) string { return p.colour("1", s) }
func (p *printer) red(s string) string  { return p.colour("1;31", s) }
func (p *printer) dim(s string) string  { return p.colour("2", s) }

func (p *printer) verdict(v checker.Verdict) string {
	switch v {
	case checker.Fail:
		return p.red("FAIL")
	case checker.Pass:
		return p.colour("32", "pass")
	case checker.NotApplicable:
		return "n/a "
	}
	return p.colour("33", "unknown")
}

// para writes text wrapped to the width, behind a first line's prefix and an indent.
func (p *printer) para(first, indent, text string) {
	line, width := first, utf8.RuneCountInString(first)
	empty := true
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if !empty && width+1+n > p.style.Width {
			p.line("%s", line)
			line, width, empty = indent, utf8.RuneCountInString(indent), true
		}
		if !empty {
			line += " "
			width++
		}
		line += word
		width += n
		empty = false
	}
	p.line("%s", line)
}

func (p *printer) head(r Run) {
	m := r.Meta
	name := p.bold(m.Scenario)
	if m.Pitfall != "" {
		name += " (" + m.Pitfall + ")"
	}
	p.line("%s  lock %s · guard %s · %s · seed %d · %s", name, p.bold(m.Lock), m.Guard, backend(m.Backend), m.Seed, m.Topology)
	if m.Title != "" {
		p.line("%s", m.Title)
	}
	p.line("")
}

func backend(name string) string {
	switch name {
	case "embedded":
		return "embedded, virtual time"
	case "process":
		return "process, real redis-server"
	}
	return name
}

func (p *printer) timeline(r Run) {
	events := r.Events
	if len(events) > longStory {
		events = window(events, r.Report)
		p.line("%s", p.dim(fmt.Sprintf("  %d events; these are the ones around the first violation, or the first ones", len(r.Events))))
	}
	rows := timeline(events, r.Exchanges)
	const left = 54
	for _, row := range rows {
		text := fmt.Sprintf("  %7s  %-8s %s", seconds(row.at), row.who, row.what)
		switch {
		case row.alarm:
			p.line("%s", p.red(text))
		case row.wire == "":
			p.line("%s", text)
		case utf8.RuneCountInString(text)+2+utf8.RuneCountInString(row.wire) <= p.style.Width:
			pad := max(left-utf8.RuneCountInString(text), 0)
			if utf8.RuneCountInString(text)+pad+2+utf8.RuneCountInString(row.wire) > p.style.Width {
				pad = 0
			}
			p.line("%s%s  %s", text, strings.Repeat(" ", pad), p.dim(row.wire))
		default:
			p.line("%s", text)
			for i, part := range strings.Split(row.wire, "  → ") {
				if i > 0 {
					part = "→ " + part
				}
				p.line("%s", p.dim(strings.Repeat(" ", 20)+part))
			}
		}
	}
	p.line("")
}

// window keeps the events around the first witness, or the first events.
func window(events []histories.Event, report checker.Report) []histories.Event {
	const around = 12
	first, last := 0, 2*around
	for _, res := range report.Results {
		if res.Verdict == checker.Fail && len(res.Witness) > 0 {
			first, last = res.Witness[0]-around, res.Witness[0]
			for _, w := range res.Witness {
				if w-res.Witness[0] < longStory {
					last = max(last, w)
				}
			}
			last += around
			break
		}
	}
	return events[max(first, 0):min(last, len(events))]
}

// labels are the properties as people call them.
func label(p checker.Property) string { return strings.ReplaceAll(string(p), "-", " ") }

func (p *printer) verdicts(r Run) {
	const column = 19
	met := map[checker.Property]checker.Judged{}
	for _, e := range r.Expected {
		met[e.Property] = e
	}
	var quiet []string
	for _, res := range r.Report.Results {
		e, known := met[res.Property]
		asWanted := !known || e.Met
		if asWanted && (res.Verdict == checker.Pass || res.Verdict == checker.NotApplicable) {
			quiet = append(quiet, label(res.Property)+" "+p.verdict(res.Verdict))
			continue
		}
		text := res.Story
		if len(res.Witness) > 0 {
			text += " [events " + join(res.Witness) + "]"
		}
		if !asWanted {
			text += fmt.Sprintf(" (expected: %s)", e.Want)
		}
		pad := strings.Repeat(" ", max(column-len(label(res.Property)), 1))
		indent := strings.Repeat(" ", column+2+5)
		p.para("  "+label(res.Property)+pad+p.verdict(res.Verdict)+" ", indent, text)
	}
	if len(quiet) > 0 {
		p.line("  %s", strings.TrimSpace(strings.Join(quiet, " · ")))
	}
	checked, unknowns, took, engine := 0, 0, time.Duration(0), ""
	for _, res := range r.Report.Results {
		checked, unknowns = max(checked, res.Checked), max(unknowns, res.Unknowns)
		took += res.Took
		if res.Property == checker.StrictExclusion {
			engine = res.Engine
		}
	}
	p.line("%s", p.dim(fmt.Sprintf("  checked %d events, %d operations of unknown outcome; %s (%s)", len(r.Events), unknowns, engine, took.Round(10*time.Microsecond))))
	for _, v := range r.Report.Vacuous {
		p.para("  vacuous: ", "           ", v)
	}
	for _, v := range r.Report.HarnessErrors {
		p.para("  harness: ", "           ", v)
	}
	p.line("")
}

func join(ints []int) string {
	const most = 8
	var b strings.Builder
	for i, n := range ints {
		switch {
		case i == most:
			fmt.Fprintf(&b, ", … %d more", len(ints)-most)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}

func (p *printer) end(r Run) {
	failed := r.Report.Verdict == checker.Fail
	if r.Why != "" && failed {
		p.para("Why: ", "     ", r.Why)
	}
	if failed {
		for _, s := range r.Survivors {
			p.line("Survives the same steps: %s", s)
		}
	}
	p.line("Verdict: %s", p.bold(p.sentence(r)))
	if r.Meta.Command != "" {
		p.line("Replay:  %s", r.Meta.Command)
	}
	if r.Dir != "" {
		p.line("History: %s", r.Dir)
	}
	for _, n := range r.Meta.Notes {
		p.para("Note:    ", "         ", show(n))
	}
}

func (p *printer) sentence(r Run) string {
	what := map[checker.Verdict]string{
		checker.Fail: "violation found", checker.Pass: "all properties hold", checker.Unknown: "nothing can be said",
	}[r.Report.Verdict]
	switch r.Outcome {
	case checker.AsExpected:
		return what + ", as expected."
	case checker.Unexpected:
		var wrong []string
		for _, e := range r.Expected {
			if !e.Met {
				wrong = append(wrong, fmt.Sprintf("%s was expected to be %s and is %s", label(e.Property), e.Want, e.Got))
			}
		}
		return what + ", NOT as expected: " + strings.Join(wrong, "; ") + "."
	}
	return what + ": the run is not conclusive."
}

// Line writes r in one line.
func Line(w io.Writer, r Run, style Style) error {
	p := &printer{style: style}
	var failed []string
	for _, res := range r.Report.Results {
		if res.Verdict == checker.Fail {
			failed = append(failed, label(res.Property))
		}
	}
	text := fmt.Sprintf("seed %d  %s", r.Meta.Seed, p.sentence(r))
	if len(failed) > 0 {
		text += "  failed: " + strings.Join(failed, ", ")
	}
	p.line("%s", text)
	_, err := io.WriteString(w, p.b.String())
	return err
}
