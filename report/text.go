package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Style says how a text report may look.
type Style struct {
	Colour bool
	Width  int  // columns; 0 means 100
	ASCII  bool // pictures keep to ASCII, for terminals that may have nothing else
}

// longStory is how many events a timeline may have before only its witness is told.
const longStory = 200

// Text writes r for people: what happened, what was judged and why, what was expected,
// and how to see it again. It reads the same without colour. Only commands and paths,
// which are there to be copied, may be wider than the style.
func Text(w io.Writer, r Run, style Style) error {
	if style.Width <= 0 {
		style.Width = 100
	}
	p := &printer{style: style}
	p.head(r)
	p.timeline(r)
	p.picture(r.Report.Results, r.Events)
	p.verdicts(r)
	p.end(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *printer) head(r Run) {
	m := r.Meta
	name := show(m.Scenario)
	text := name
	if m.Pitfall != "" {
		text += " (" + show(m.Pitfall) + ")"
	}
	if known := conditions(m); len(known) > 0 {
		text += "  " + prose(strings.Join(known, " · "))
	}
	p.para("", text, func(line string) string {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return p.bold(name) + " " + rest
		}
		return line
	})
	if m.Title != "" {
		p.para("", prose(m.Title), nil)
	}
	p.line("")
}

// conditions are what was run against what, as far as it is known.
func conditions(m histories.Meta) []string {
	var known []string
	add := func(what, value string) {
		if value != "" {
			known = append(known, what+value)
		}
	}
	add("lock ", m.Lock)
	add("guard ", m.Guard)
	add("", backend(m.Backend))
	if m.Schema != 0 {
		add("seed ", fmt.Sprint(m.Seed))
	}
	add("", m.Topology+load(m))
	return known
}

// load tells of a random load what is not as usual.
func load(m histories.Meta) string {
	text := ""
	if m.Keys > 1 {
		text += fmt.Sprintf(" · %d keys", m.Keys)
	}
	if m.Rate > 0 {
		text += fmt.Sprintf(" · %v rounds/s", m.Rate)
	}
	return text
}

// JudgedIn is the end of a sentence on how long judging took, in real time. Of a run in virtual
// time it is empty: the same seed gives the same text.
func JudgedIn(m histories.Meta, took time.Duration) string {
	if m.Backend == "embedded" {
		return ""
	}
	return fmt.Sprintf(", in %v", took.Round(10*time.Microsecond))
}

func backend(name string) string {
	switch name {
	case "embedded":
		return "embedded, virtual time"
	case "process":
		return "process, real redis-server"
	case "docker":
		return "docker, real redis-server in containers"
	case "external":
		return "external, servers of your own"
	}
	return name
}

func (p *printer) timeline(r Run) {
	events := r.Events
	if len(events) > longStory {
		var which string
		events, which = window(events, r.Report)
		p.para("  ", fmt.Sprintf("%d events, of which these are %s", len(r.Events), which), p.dim)
	}
	rows := NewTimeline(r).Rows(events)
	var marks, times, names, whats []string
	for _, row := range rows {
		marks, times, names = append(marks, row.Mark()), append(times, seconds(row.At)), append(names, row.Who)
	}
	mark, at, who := widest(marks), widest(times), widest(names)
	for i, row := range rows {
		whats = append(whats, fmt.Sprintf("  %*s  %*s  %s  ", mark, row.Mark(), at, times[i], pad(row.Who, who))+row.What)
	}
	left, indent := p.column(rows, whats), 2+mark+2+at+2+who+2
	for i, row := range rows {
		switch {
		case row.Alarm:
			p.para(whats[i][:len(whats[i])-len(row.What)], row.What, p.red)
		case p.beside(row, whats[i], left):
			p.line("%s  %s", pad(whats[i], left), p.dim(row.Wire[0]))
		default:
			p.para(whats[i][:len(whats[i])-len(row.What)], row.What, nil)
			for _, w := range row.Wire {
				p.para(strings.Repeat(" ", indent), w, p.dim)
			}
		}
	}
	p.line("")
}

func widest(all []string) int {
	n := 0
	for _, s := range all {
		n = max(n, columns(s))
	}
	return n
}

// beside says that what crossed the wire fits beside what happened, from column left.
func (p *printer) beside(r Row, what string, left int) bool {
	return len(r.Wire) == 1 && columns(what) <= left && left+2+columns(r.Wire[0]) <= p.style.Width
}

// column is where the wire's column begins so that it fits beside most rows.
func (p *printer) column(rows []Row, whats []string) int {
	best, most := 0, 0
	for _, what := range whats {
		left, n := columns(what), 0
		for i, r := range rows {
			if p.beside(r, whats[i], left) {
				n++
			}
		}
		if n > most || n == most && left < best {
			best, most = left, n
		}
	}
	return best
}

// label is a property as people call it.
func label(p checker.Property) string {
	return strings.ReplaceAll(brief(string(p), 30), "-", " ")
}

func (p *printer) verdicts(r Run) {
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
		text := story(res, r.Report.Vacuous)
		if len(res.Witness) > 0 {
			text += " [events " + join(res.Witness) + "]"
		}
		if !asWanted {
			text += fmt.Sprintf(" (expected: %s)", e.Want)
		}
		p.para("  "+pad(label(res.Property), len("deadlock freedom"))+"  "+pad(p.verdict(res.Verdict), len("unknown"))+"  ", text, nil)
	}
	p.list("  ", quiet)
	unknowns, took, engine := 0, time.Duration(0), ""
	for _, res := range r.Report.Results {
		unknowns = max(unknowns, res.Unknowns)
		took += res.Took
		if res.Property == checker.StrictExclusion && res.Engine != "" {
			engine = ", exclusion by " + show(res.Engine)
		}
	}
	p.para("  ", fmt.Sprintf("judged %s, %s of unknown outcome%s%s",
		count(len(r.Events), "event"), count(unknowns, "operation"), engine, JudgedIn(r.Meta, took)), p.dim)
	for _, v := range r.Report.Vacuous {
		p.para("  vacuous: ", prose(v), nil)
	}
	for _, v := range r.Report.HarnessErrors {
		p.para("  harness: ", prose(v), nil)
	}
	p.line("")
}

// list writes items on as few lines as the width allows.
func (p *printer) list(indent string, items []string) {
	line := indent
	for _, item := range items {
		switch {
		case line == indent:
			line += item
		case columns(line)+3+columns(item) > p.style.Width:
			p.line("%s", line)
			line = indent + item
		default:
			line += " · " + item
		}
	}
	if line != indent {
		p.line("%s", line)
	}
}

// story is a result's story. What it shares with other results, the reasons why the run
// is vacuous, is told once below them.
func story(res checker.Result, vacuous []string) string {
	text := prose(res.Story)
	for _, v := range vacuous {
		text = strings.TrimSpace(strings.Replace(text, "Vacuous: "+prose(v)+".", "", 1))
	}
	if text == "" {
		return "Not put to the test."
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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

// broken says whether a property fails that was not given up beforehand.
func broken(r Run) bool {
	givenUp := map[checker.Property]bool{}
	for _, e := range r.Expected {
		givenUp[e.Property] = e.Want == checker.NotApplicable
	}
	return slices.ContainsFunc(r.Report.Results, func(res checker.Result) bool {
		return res.Verdict == checker.Fail && !givenUp[res.Property]
	})
}

func (p *printer) end(r Run) {
	failed := broken(r)
	for _, c := range Causes(r) {
		p.para("Cause:   ", CauseText(c), nil)
	}
	for _, text := range Peers(r) {
		p.hang(text)
	}
	if r.Why != "" && failed {
		p.hang(WhyHead(r) + ": " + prose(r.Why))
	}
	if r.Note != "" {
		p.hang("Note on " + show(r.who()) + ": " + prose(r.Note))
	}
	if failed {
		if len(r.Survivors) > 0 {
			p.line("Survives the same steps:")
		}
		for _, s := range r.Survivors {
			p.line("         %s", clean(s))
		}
	}
	p.para("Verdict: ", sentence(r), p.bold)
	p.usage(r.Meta.Usage)
	if r.Meta.Command != "" {
		p.line("Replay:  %s", clean(r.Meta.Command))
	}
	if r.Dir != "" {
		p.line("History: %s", clean(r.Dir))
	}
	if r.Page != "" {
		p.line("Report:  %s", clean(r.Page))
	}
	for _, n := range r.Meta.Notes {
		p.para("Note:    ", prose(n), nil)
	}
}

// sentence says what was found and whether that was expected.
func sentence(r Run) string {
	var failed []string
	for _, res := range r.Report.Results {
		if res.Verdict == checker.Fail {
			failed = append(failed, label(res.Property))
		}
	}
	what := "nothing can be said"
	switch r.Report.Verdict {
	case checker.Fail:
		what = and(failed) + " violated"
	case checker.Pass:
		what = "all properties hold"
	}
	switch r.Outcome {
	case checker.AsExpected:
		if r.Judgement.Peers != nil {
			return what + "; none of that is the lock's own fault."
		}
		return what + ", as expected."
	case checker.Unexpected:
		return what + ", NOT as expected: " + surprise(r.Expected, and(failed)) + "."
	}
	if judged := r.Report.Verdict == checker.Fail || r.Report.Verdict == checker.Pass; judged && len(r.Expected) == 0 {
		return what + "; nothing was expected of the run."
	}
	return what + "; the run is not conclusive."
}

// surprise says what came out otherwise than expected. It does not repeat the properties
// that are named already.
func surprise(judged []checker.Judged, named string) string {
	type change struct{ got, want checker.Verdict }
	var order []change
	changed := map[change][]string{}
	for _, e := range judged {
		if e.Met {
			continue
		}
		c := change{e.Got, e.Want}
		if changed[c] == nil {
			order = append(order, c)
		}
		changed[c] = append(changed[c], label(e.Property))
	}
	var parts []string
	for _, c := range order {
		part := fmt.Sprintf("%s instead of %s", c.got, c.want)
		if who := and(changed[c]); who != named {
			parts = append(parts, who+" came out as "+part)
		} else {
			parts = append([]string{part}, parts...) // it follows their names
		}
	}
	if len(parts) == 0 {
		return "a violation was wanted"
	}
	return strings.Join(parts, "; ")
}

// and joins words as a sentence does.
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Line writes r in one line, however wide.
func Line(w io.Writer, r Run, style Style) error {
	p := &printer{style: style}
	text := sentence(r)
	if r.Outcome != checker.AsExpected {
		text = p.bold(text)
	}
	_, err := fmt.Fprintf(w, "seed %d  %s\n", r.Meta.Seed, text)
	return err
}
