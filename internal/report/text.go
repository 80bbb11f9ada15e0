package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// Style says how a text report may look.
type Style struct {
	Colour bool
	Width  int // columns; 0 means 100
	Volume Volume
}

// Volume says how much a text tells.
type Volume uint8

// The volumes.
const (
	Usual Volume = iota
	Terse        // the verdict alone
	Full         // also what is told in sum otherwise
)

// longStory is how many events a timeline may have before only its witness is told.
const longStory = 200

// Text writes r for people: what happened, what was judged and why, what was expected,
// and how to see it again. It reads the same without colour. Only commands and paths,
// which are there to be copied, may be wider than the style.
func Text(w io.Writer, r Run, style Style) error {
	if style.Width <= 0 {
		style.Width = 100
	}
	p, r := &printer{style: style}, r.Told()
	p.head(r)
	p.timeline(r)
	p.picture(r.Report.Results, r.Story())
	p.verdicts(r)
	p.end(r)
	_, err := io.WriteString(w, p.text())
	return err
}

func (p *printer) head(r Run) {
	m := r.Meta
	name := show(m.Scenario)
	text := name
	if m.Pitfall != "" {
		text += " (" + show(m.Pitfall) + ")"
	}
	if known := conditions(r); len(known) > 0 {
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
	if shown := Anomalies(r); len(shown) > 0 {
		p.para("shows ", shown[0].Title(), nil)
	}
	p.line("")
}

// conditions are what was run against what, as far as it is known.
func conditions(r Run) []string {
	m, in := r.Meta, r.Language
	var known []string
	add := func(text, value string) {
		if value != "" {
			known = append(known, text)
		}
	}
	add(in.Sayf("lock %s", m.Lock), m.Lock)
	add(in.Sayf("guard %s", m.Guard), m.Guard)
	backend := r.where()
	add(in.Say(backend), backend)
	if m.Schema != 0 {
		known = append(known, in.Sayf("seed %d", m.Seed))
	}
	servers := strings.Join(in.Each(strings.Split(m.Topology, ", ")), in.Say(", ")) + load(r)
	add(servers, servers)
	return known
}

// where is the backend, and which servers it had as far as that is known.
func (r Run) where() string {
	if r.Server == "" {
		return histories.DescribeBackend(r.Backend)
	}
	return r.Backend + " (" + r.Server + ")"
}

// load tells of a random load what is not as usual.
func load(r Run) string {
	m, in := r.Meta, r.Language
	text := ""
	if m.Keys > 1 {
		text += " · " + in.Count(m.Keys, "key")
	}
	if m.Rate > 0 {
		text += " · " + in.Sayf("%v rounds/s", m.Rate)
	}
	return text
}

// JudgedIn is the end of a sentence on how long judging took, in real time. Of a run in virtual
// time it is empty: the same seed gives the same text.
func JudgedIn(r Run, took time.Duration) string {
	if histories.VirtualTime(r.Backend) {
		return ""
	}
	return r.Language.Sayf(", in %v", took.Round(10*time.Microsecond))
}

func (p *printer) timeline(r Run) {
	events := r.Events
	if len(events) > longStory && p.style.Volume != Full {
		var which string
		events, which = window(events, r.Report)
		p.para("  ", fmt.Sprintf("%d events, of which these are %s", len(r.Events), which), p.dim)
	}
	rows := NewTimeline(r).Rows(events)
	var marks, times, names, whats []string
	for _, row := range rows {
		marks, times, names = append(marks, row.Mark()), append(times, words.Instant(row.At)), append(names, row.Who)
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

// beside reports whether what crossed the wire fits beside what happened, from column left.
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

// broken reports whether a property fails that was not given up beforehand.
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
	p.conclude(sentence(r))
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
