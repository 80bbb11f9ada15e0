package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// Check is everything that is told of a history that was read from a file and judged.
type Check struct {
	Schema  int                     `json:"schema"`
	File    string                  `json:"file"`
	Format  histories.Format        `json:"format"`
	Model   string                  `json:"model"`
	Run     *histories.Meta         `json:"run,omitempty"` // of a run directory
	Count   int                     `json:"events"`
	Skipped []string                `json:"skipped"` // what was not sound and left out
	Report  checker.Report          `json:"report"`
	Cited   map[int]histories.Event `json:"-"` // the events that witnesses name
	Drawn   []histories.Event       `json:"-"` // those of their attempts, crashes and faults, in order
}

// Kept are the events of Cited and Drawn, in order.
func (c Check) Kept() []histories.Event {
	all := slices.AppendSeq(slices.Clone(c.Drawn), maps.Values(c.Cited))
	slices.SortFunc(all, func(a, b histories.Event) int { return cmp.Compare(a.Index, b.Index) })
	return slices.CompactFunc(all, func(a, b histories.Event) bool { return a.Index == b.Index })
}

// CheckJSON writes c as one indented JSON object, with Schema set.
func CheckJSON(w io.Writer, c Check) error {
	c.Schema = Schema
	if c.Skipped == nil {
		c.Skipped = []string{}
	}
	if c.Report.Results == nil {
		c.Report.Results = []checker.Result{}
	}
	return WriteJSON(w, c)
}

// CheckText writes c for people: each property with its verdict, why, and the events that
// prove it.
func CheckText(w io.Writer, c Check, style Style) error {
	if style.Width <= 0 {
		style.Width = 100
	}
	p := &printer{style: style}
	p.line("%s", p.bold(clean(c.File))) // to be copied, however long
	p.para("  ", prose(c.about()), nil)
	p.line("")
	drawn := len(c.Drawn) == 0
	for _, res := range c.Report.Results {
		p.judged(c, res)
		if res.Verdict == checker.Fail && !drawn {
			drawn = true
			if below := (&printer{style: style}); below.picture(c.Report.Results, story.Of(c.Drawn, nil)) {
				p.line("")
				p.b.WriteString(below.b.String())
			}
		}
	}
	p.footnotes(c)
	p.conclude(c.sentence())
	_, err := io.WriteString(w, p.text())
	return err
}

// about says what was read.
func (c Check) about() string {
	text := fmt.Sprintf("%s · model %s · %s", c.Format, c.Model, words.Count(c.Count, "event"))
	if len(c.Skipped) > 0 {
		text += fmt.Sprintf(", %s skipped", words.Count(len(c.Skipped), "line"))
	}
	if c.Run != nil {
		text += fmt.Sprintf(" · %s, lock %s, guard %s, seed %d", c.Run.Scenario, c.Run.Lock, c.Run.Guard, c.Run.Seed)
	}
	return text
}

// mostWitnesses is how many events of a witness are told.
const mostWitnesses = 10

// judged writes one property.
func (p *printer) judged(c Check, res checker.Result) {
	const name, verdict = len("deadlock freedom"), len("unknown")
	p.para("  "+pad(label(res.Property), name)+"  "+pad(p.word(res.Verdict), verdict)+"  ", resultText(res, c.Report.Vacuous), nil)
	indent := strings.Repeat(" ", 2+name+2+verdict+2)
	for i, w := range res.Witness {
		e, known := c.Cited[w]
		if !known {
			continue
		}
		if i == mostWitnesses {
			p.line("%s… and %d more", indent, len(res.Witness)-i)
			break
		}
		p.para(fmt.Sprintf("%sevent %-*d  %s  ", indent, digits(res.Witness), w, words.Instant(e.Time)), witness(e, res.Property), p.dim)
	}
}

func digits(ints []int) int {
	n := 0
	for _, i := range ints {
		n = max(n, len(fmt.Sprint(i)))
	}
	return n
}

// witness tells one event on its own.
func witness(e histories.Event, judged checker.Property) string {
	switch {
	case judged == checker.Linearizability:
		return strings.TrimSpace(fmt.Sprintf("process %d: %s %s %s", e.Process, e.Type, show(string(e.F)), show(e.Value)))
	case e.Single():
		return name(e) + " " + single(e, language.Language{})
	case e.Process == histories.Nemesis:
		return name(e) + " " + fault(e, e.Type == histories.OK)
	case e.Type == histories.Invoke:
		return name(e) + " " + begun(e, language.Language{})
	}
	return name(e) + " " + ended(e, language.Language{})
}

// footnotes write what concerns all properties.
func (p *printer) footnotes(c Check) {
	unknowns, took := 0, time.Duration(0)
	for _, res := range c.Report.Results {
		unknowns = max(unknowns, res.Unknowns)
		took += res.Took
	}
	p.para("  ", fmt.Sprintf("%s of unknown outcome, judged in %v", words.Count(unknowns, "operation"), took.Round(10*time.Microsecond)), p.dim)
	for _, v := range c.Report.Vacuous {
		p.para("  vacuous: ", prose(v), nil)
	}
	for _, v := range c.Report.HarnessErrors {
		for line := range strings.Lines(v) {
			p.para("  harness: ", prose(line), nil)
		}
	}
	const most = 5
	for i, s := range c.Skipped {
		if i == most {
			p.line("  skipped: … and %d more", len(c.Skipped)-most)
			break
		}
		p.para("  skipped: ", prose(s), nil)
	}
	p.line("")
}

func (c Check) sentence() string {
	var failed []string
	for _, res := range c.Report.Results {
		if res.Verdict == checker.Fail {
			failed = append(failed, label(res.Property))
		}
	}
	switch {
	case len(failed) > 0:
		return and(failed) + " violated."
	case c.Report.Verdict == checker.Pass:
		return "everything that was judged holds."
	case len(c.Report.HarnessErrors) > 0:
		return "the history was not judged; it breaks the rules of histories, which is no fault of what it tells of."
	}
	return "nothing can be said."
}
