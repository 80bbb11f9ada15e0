package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// Why is one cell of the matrix with what explains it.
type Why struct {
	Cell     Cell
	title    string // of the scenario
	backend  string
	seed     uint64
	causes   []string // why it broke, the nearest first
	survivor string   // who keeps what broke; empty: nobody that is known
	commands []command
}

// command is a command to type, and what it shows.
type command struct{ shows, line string }

// Why explains the only cell of a plan of NewMatrix for one lock and one scenario, from what its runs showed.
func (p *Plan) Why(r Results, lock locks.Spec) (Why, error) {
	m, err := p.MatrixOf(r, []locks.Spec{lock})
	if err != nil {
		return Why{}, err
	}
	if len(m.Cells) != 1 {
		return Why{}, fmt.Errorf("%d scenarios are meant, want one", len(m.Cells))
	}
	chosen, err := choose(p.opt.Catalogue, p.opt.Only)
	if err != nil {
		return Why{}, err
	}
	s := chosen[0]
	w := Why{Cell: m.Cells[0], title: s.Title, backend: r.Backend, seed: r.Seed}
	for _, row := range r.Rows {
		if len(w.causes) == 0 {
			w.causes = row.told()
		}
	}
	w.show("to see it", w.Cell.Command)
	if w.Cell.State != IsBroken && w.Cell.State != OfClass {
		if b := s.Broken(); b.Lock != lock.Name && !s.Holds {
			w.show("what breaks", p.commandOf(s, b, r.Seed))
		}
		return w, nil
	}
	for _, row := range r.Rows {
		if w.Cell.Command == "" {
			w.show("to see it", row.Command)
			w.Cell.Command = row.Command
		}
		if c, ok := row.savedBy(s); ok && w.survivor == "" {
			w.survivor = c.String()
			w.show("the survivor", p.commandOf(s, c, r.Seed))
		}
	}
	return w, nil
}

func (w *Why) show(what, line string) {
	if line != "" {
		w.commands = append(w.commands, command{what, line})
	}
}

// commandOf is how to play a case of a scenario, or empty for a lock that is not known.
func (p *Plan) commandOf(s scenarios.Scenario, c scenarios.Case, seed uint64) string {
	lock, err := p.opt.Locks.Find(c.Lock)
	if err != nil {
		return ""
	}
	var cfg harness.Config
	cfg.Name, cfg.Lock, cfg.Guard, cfg.Seed = s.Name, lock, c.Guard, seed
	return p.opt.Command(cfg, c.Remedy)
}

// told are the causes of what broke in a run, in sentences.
func (r Row) told() []string {
	var all []string
	broke := slices.ContainsFunc(r.Judged, func(f Finding) bool { return f.Got == checker.Fail && !f.Met })
	if !broke {
		return nil
	}
	for _, c := range r.nearest() {
		all = append(all, fault{cause: c}.sentence())
	}
	for _, f := range r.Unavoidable() {
		if f.Story != "" && len(all) == 0 {
			all = append(all, f.Story)
		}
	}
	return unique(all)
}

// savedBy is a case of a scenario that keeps something that a run broke. One that was seen to in this gate comes first.
func (r Row) savedBy(s scenarios.Scenario) (scenarios.Case, bool) {
	for _, f := range r.Findings() {
		if len(f.KeptBy) > 0 {
			guard, err := resource.FindGuard(r.Guard)
			return scenarios.Case{Lock: f.KeptBy[0], Guard: guard}, err == nil
		}
	}
	for _, by := range r.Survivors {
		guard, err := resource.FindGuard(by.Guard)
		return scenarios.Case{Lock: by.Lock, Guard: guard, Remedy: by.Remedy}, err == nil
	}
	for _, c := range s.Survivors() {
		if c.Lock != r.Lock || c.Guard.String() != r.Guard || c.Remedy != r.Remedy {
			return c, true
		}
	}
	return scenarios.Case{}, false
}

// Text writes w for people.
func (w Why) Text(out io.Writer, style report.Style) error {
	page := report.NewPage(style)
	name := w.Cell.Lock
	if w.Cell.Guard != resource.None.String() {
		name += " with guard " + w.Cell.Guard
	}
	page.Para("", fmt.Sprintf("%s under %s %s · %s · seed %d", name, w.Cell.ID, w.Cell.Scenario, backend(w.backend), w.seed), report.Strong)
	page.Para("", w.title, report.Quiet)
	page.Line()
	word, tone := w.word()
	page.Para(page.Cell(word, 0, tone)+"  ", w.sentence(), report.Plain)
	for _, c := range w.causes {
		page.Line()
		page.Para("  ", c, report.Plain)
	}
	if w.survivor != "" {
		page.Line()
		page.Para("", "Under the same steps "+w.survivor+" keeps it.", report.Plain)
	}
	if len(w.commands) > 0 {
		page.Line()
	}
	for _, c := range w.commands {
		page.Line(page.Cell(c.shows, len("the survivor"), report.Quiet), "  ", page.Cell(c.line, 0, report.Plain)) // to be copied, however long
	}
	_, err := page.WriteTo(out)
	return err
}

func (w Why) word() (string, report.Tone) {
	switch w.Cell.State {
	case Held:
		return "HELD", report.Good
	case IsBroken:
		return "BROKEN", report.Bad
	case OfClass:
		return "BROKEN AS ITS CLASS", report.Doubtful
	case DoesNotApply:
		return "NOT APPLICABLE", report.Quiet
	}
	return "UNKNOWN", report.Doubtful
}

func (w Why) sentence() string {
	broke := strings.Join(labels(w.Cell.Violated), ", ")
	switch w.Cell.State {
	case Held:
		return "it keeps what another lock of its class keeps under these steps."
	case IsBroken:
		return broke + ": another lock of its class keeps this under the same steps."
	case OfClass:
		return broke + ": no lock of its class keeps this under these steps."
	}
	return w.Cell.Reason
}
