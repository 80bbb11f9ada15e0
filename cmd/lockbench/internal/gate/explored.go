package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
)

// exploredID is the number of what is no pitfall of the catalogue: a schedule that a search has found.
const exploredID = "explore"

// Sound are the sound locks that the shard explores: those of the scenarios that were chosen, or if all were, of the catalogue.
func (p *Plan) Sound() []locks.Spec {
	var sound []locks.Spec
	for _, lock := range p.opt.Locks {
		named := func(c string) bool { return c == lock.Name }
		chosen := len(p.opt.Only) == 0
		for _, s := range p.chosen {
			for _, c := range s.Cases {
				chosen = chosen || named(c.Lock)
			}
		}
		if lock.Sound && chosen {
			sound = append(sound, lock)
		}
	}
	var mine []locks.Spec
	for i, lock := range sound {
		if i%p.opt.Shard.Of == p.opt.Shard.Index-1 {
			mine = append(mine, lock)
		}
	}
	return mine
}

// discovery is a schedule that a search has found, with the properties that count.
type discovery struct {
	explore.Kept
	of explore.Record
}

func (d discovery) who() string { return who(d.of.Explored, d.of.Guard, "") }

// known is the finding as a baseline keeps it.
func (d discovery) known() []Known {
	var all []Known
	for _, p := range d.Broken {
		all = append(all, Known{
			ID: exploredID, Scenario: cmp.Or(d.Kind, "fair weather"), Lock: d.of.Explored, Guard: d.of.Guard, Property: p, Got: checker.Fail,
		})
	}
	return all
}

// discoveries are those of all that was found whose properties decide, and that are wanted.
func (r Results) discoveries(wanted func(Known) bool) []discovery {
	var all []discovery
	for _, record := range r.Explored {
		for _, k := range record.Findings {
			d := discovery{k, record}
			d.Broken = nil
			for _, one := range (discovery{k, record}).known() {
				if (len(r.FailOn) == 0 || slices.Contains(r.FailOn, one.Property)) && wanted(one) {
					d.Broken = append(d.Broken, one.Property)
				}
			}
			if len(d.Broken) > 0 {
				all = append(all, d)
			}
		}
	}
	return all
}

// finds are what was found and is not known.
func (r Results) finds(known Baseline) []discovery {
	return r.discoveries(func(k Known) bool { return !slices.Contains(known.Findings, k) })
}

// accepts are what was found and is known.
func (r Results) accepts(known Baseline) []discovery {
	return r.discoveries(func(k Known) bool { return slices.Contains(known.Findings, k) })
}

func (r Results) breaks(known Baseline) bool { return len(r.finds(known)) > 0 }

// searched says what a search could have found, because it came to its end, and what it found.
func (r Results) searched() (searched func(Known) bool, found []Known) {
	for _, d := range r.discoveries(func(Known) bool { return true }) {
		found = append(found, d.known()...)
	}
	return func(k Known) bool {
		of := slices.DeleteFunc(slices.Clone(r.Explored), func(e explore.Record) bool { return e.Explored != k.Lock || e.Guard != k.Guard })
		return len(of) > 0 && !slices.ContainsFunc(of, func(e explore.Record) bool { return len(left(e)) > 0 })
	}, found
}

// left are the programs that a search did not explore whole.
func left(r explore.Record) []string {
	return slices.DeleteFunc(slices.Clone(r.Programs), func(name string) bool { return slices.Contains(r.Done, name) })
}

// extent says how far a search came.
func extent(r explore.Record) string {
	text := fmt.Sprintf("%s, %d of %s whole", words.Count(r.Runs, "run"), len(r.Done), words.Count(len(r.Programs), "program"))
	if r.Proven.Meant > 0 {
		text += fmt.Sprintf(", %d of %s that broke other locks", r.Proven.Played, words.Count(r.Proven.Meant, "schedule"))
	}
	return text
}

// unexplored says what searches did not look at; empty: they looked at all.
func (r Results) unexplored() string {
	var none, part []string
	for _, e := range r.Explored {
		switch {
		case e.Runs == 0:
			none = append(none, e.Explored)
		case len(left(e)) > 0 && r.Lock == "":
			part = append(part, e.Explored)
		case len(left(e)) > 0:
			part = append(part, left(e)...)
		}
	}
	var all []string
	if len(part) > 0 {
		all = append(all, "Not explored whole: "+strings.Join(part, ", ")+".")
	}
	if len(none) > 0 {
		all = append(all, "Not explored at all: "+strings.Join(none, ", ")+".")
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, " ") + " What was not looked at has not passed."
}

// exploredHead says how much was explored.
func (r Results) exploredHead() string {
	runs, done, programs := 0, 0, 0
	for _, e := range r.Explored {
		runs, done, programs = runs+e.Runs, done+len(e.Done), programs+len(e.Programs)
	}
	what := extent(r.Explored[0])
	if len(r.Explored) > 1 {
		what = fmt.Sprintf("%s, %s, %d of %s whole", words.Count(len(r.Explored), "lock"), words.Count(runs, "run"), done, words.Count(programs, "program"))
	}
	place := "in virtual time"
	if b := r.Explored[0].Backend; b != "" {
		place = "on backend " + b
	}
	return fmt.Sprintf("Explored for %v besides, %s: %s.", r.Exploring, place, what)
}

// exploredText tells what was found, and what was looked at.
func (r Results) exploredText(page *report.Page, known Baseline) {
	if len(r.Explored) == 0 {
		return
	}
	const indent = "              "
	for _, d := range told(r.finds(known)) {
		page.Para(" "+page.Cell("FAIL", 7, report.Bad)+"  ", d.who()+", "+strings.Join(report.Labels(d.Broken), ", ")+": "+d.Title, report.Strong)
		if d.Command != "" {
			page.Line(indent, page.Cell(d.Command, 0, report.Plain)) // to be copied, however long
		}
		page.Line()
	}
	for _, d := range r.accepts(known) {
		page.Para(" "+page.Cell("known", 7, report.Doubtful)+"  ", d.who()+", "+strings.Join(report.Labels(d.Broken), ", ")+": "+d.Title, report.Plain)
	}
	page.Para("", r.exploredHead(), report.Plain)
	if rest := r.unexplored(); rest != "" {
		page.Para(" ", rest, report.Quiet)
	}
	for _, e := range r.Explored {
		if why := slices.Concat(e.GivenUp, e.Differing); len(why) > 0 {
			page.Para(" ", fmt.Sprintf("%s: %s could not be played to the end or came out in two ways, such as: %s",
				e.Explored, words.Count(len(why), "schedule"), report.Harmless(firstLine(why[0]))), report.Doubtful)
		}
	}
	if weak := r.exploredWeaknesses(); weak != "" && r.Lock != "" {
		page.Para(" ", "Weaknesses of its class, which other locks of it have too: "+weak+".", report.Quiet)
	}
	page.Line()
}

// told are the discoveries with a schedule. One without is at the same place as another; if that one is known, those are told.
func told(all []discovery) []discovery {
	with := slices.DeleteFunc(slices.Clone(all), func(d discovery) bool { return d.Schedule == "" })
	if len(with) == 0 {
		return all
	}
	return with
}

// exploredWeaknesses are the properties that other locks of the class break as well, each once.
func (r Results) exploredWeaknesses() string {
	var all []checker.Property
	for _, e := range r.Explored {
		for _, w := range e.Weaknesses {
			if !slices.Contains(all, w.Property) {
				all = append(all, w.Property)
			}
		}
	}
	return strings.Join(report.Labels(all), ", ")
}

// exploredSuite has a case for each lock. What was not explored whole is skipped, as it neither passed nor failed.
func (r Results) exploredSuite(known Baseline) report.Suite {
	suite := report.Suite{Name: exploredID}
	finds, accepts := r.finds(known), r.accepts(known)
	for _, e := range r.Explored {
		of := func(d discovery) bool {
			return d.of.Explored == e.Explored && d.of.Guard == e.Guard && d.of.Shard == e.Shard
		}
		c := report.Case{Name: fmt.Sprintf("%s, part %d of %d", who(e.Explored, e.Guard, ""), e.Shard, e.Shards), Class: class(r.Backend, exploredID)}
		for _, d := range told(slices.DeleteFunc(slices.Clone(finds), func(d discovery) bool { return !of(d) })) {
			if c.Failure == nil {
				c.Failure = &report.Message{Type: string(Unexpected), Text: report.Prose(strings.Join(report.Labels(d.Broken), ", ") + ": " + d.Title)}
			}
			c.Failure.Body += d.Schedule + "\n" + d.Command + "\n"
		}
		for _, d := range accepts {
			if of(d) {
				c.Out += "known: " + report.Prose(strings.Join(report.Labels(d.Broken), ", ")+": "+d.Title) + "\n"
			}
		}
		if c.Failure == nil && (len(left(e)) > 0 || len(e.GivenUp)+len(e.Differing) > 0) {
			c.Skipped = &report.Message{Text: "not explored whole: " + extent(e)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

// exploredMarkdown tells what exploredText does.
func (r Results) exploredMarkdown(b *strings.Builder, known Baseline) {
	if len(r.Explored) == 0 {
		return
	}
	for _, d := range told(r.finds(known)) {
		fmt.Fprintf(b, "\n### %s Explored: %s\n\n%s: %s\n", report.MarkUnexpected, report.Escape(strings.Join(report.Labels(d.Broken), ", ")), report.Code(d.who()), report.Escape(report.Prose(d.Title)))
		if d.Schedule != "" {
			b.WriteString("\n" + report.Fence(strings.TrimRight(d.Schedule, "\n")))
		}
		if d.Command != "" {
			b.WriteString("\n" + report.Fence(d.Command))
		}
	}
	fmt.Fprintf(b, "\n%s\n", report.Escape(r.exploredHead()))
	if rest := r.unexplored(); rest != "" {
		fmt.Fprintf(b, "\n%s\n", report.Escape(rest))
	}
	if weak := r.exploredWeaknesses(); weak != "" && r.Lock != "" {
		fmt.Fprintf(b, "\nWeaknesses of its class, which other locks of it have too: %s.\n", report.Escape(weak))
	}
}
