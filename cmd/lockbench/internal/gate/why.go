package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
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
	survivor string   // who keeps something of what broke; empty: nobody that is known
	kept     []checker.Property
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
		if c, kept := row.savedBy(s); len(kept) > 0 && w.survivor == "" {
			w.survivor, w.kept = c.String(), kept
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
	return p.opt.Command(cfg, c.Remedy, 0)
}

// told are the causes of what broke in a run, in sentences, whether it is the lock's own fault or its class's.
func (r Row) told() []string {
	var all []string
	broke := slices.DeleteFunc(slices.Clone(r.Judged), func(f Finding) bool { return f.Met })
	for _, c := range r.nearestOf(broke) {
		all = append(all, fault{cause: c}.sentence())
	}
	return unique(all)
}

// savedBy is a case of a scenario that keeps something that a run broke, and what. One that was seen to in this gate comes first.
func (r Row) savedBy(s scenarios.Scenario) (by scenarios.Case, kept []checker.Property) {
	caseOf := func(lock, guard, remedy string) scenarios.Case {
		g, err := resource.FindGuard(guard)
		if err != nil { // a row that this binary did not write
			return scenarios.Case{Lock: lock, Remedy: remedy}
		}
		return scenarios.Case{Lock: lock, Guard: g, Remedy: remedy}
	}
	for _, f := range r.Findings() {
		if len(f.KeptBy) > 0 && (len(kept) == 0 || by.Lock == f.KeptBy[0]) {
			by, kept = caseOf(f.KeptBy[0], r.Guard, ""), append(kept, f.Property)
		}
	}
	if len(kept) > 0 {
		return by, kept
	}
	if len(r.Survivors) > 0 {
		other := r.Survivors[0]
		for _, f := range r.Unavoidable() {
			kept = append(kept, f.Property)
		}
		return caseOf(other.Lock, other.Guard, other.Remedy), kept
	}
	for _, c := range s.Survivors() {
		for _, p := range r.Violated() {
			if s.Broken().Want[p] == checker.Fail && c.Want[p] != checker.Fail {
				kept = append(kept, p)
			}
		}
		if len(kept) > 0 && (c.Lock != r.Lock || c.Guard.String() != r.Guard || c.Remedy != r.Remedy) {
			return c, kept
		}
		kept = nil
	}
	return scenarios.Case{}, nil
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
		page.Para("", "Under the same steps "+w.survivor+" keeps "+strings.Join(labels(w.kept), ", ")+".", report.Plain)
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
