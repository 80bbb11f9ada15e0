package choosing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/scenarios"
)

// entry is a row with all that was computed of it.
type entry struct {
	row
	cost
	verdicts
	shows broken
	real  timing // on real servers, of the measurement that is kept
}

// take is the lock and the guard, in a cell.
func (e entry) take(in tongue) string { return in.Sayf("`%s`, guard `%s`", e.lock, e.guard) }

// costs is what the lock and its guard cost, in a cell.
func (e entry) costs(in tongue) string {
	text := in.Sayf("%d commands in %d round trips, %.1f ms", e.commands, e.trips(), e.real.Median.Seconds()*1000)
	if e.guarding > 0 {
		text += in.Sayf("; the guard %d more a section", e.guarding)
	}
	if e.renewals > 0 {
		text += in.Sayf("; renewing %d a lease", e.renewals/renewedIn)
	}
	return text
}

// breaking is what still breaks the lock, in a cell.
func (e entry) breaking(in tongue) string {
	var parts []string
	for _, h := range harms() {
		all := e.of(h)
		switch {
		case len(all) > 0 && h == outlived:
			parts = append(parts, in.Sayf("%s in %d", in.Say(h.String()), len(all)))
		case len(all) > 0:
			parts = append(parts, in.Sayf("%s: %s", in.Say(h.String()), numbers(all)))
		case h == damaged:
			parts = append(parts, in.Sayf("%s in none of %d", in.Say(h.String()), e.played()))
		}
	}
	return strings.Join(parts, in.Say("; "))
}

// short is the table as README has it.
func short(all []entry, m measurement, in tongue) string {
	var b strings.Builder
	b.WriteString(header(in.Each("you have", "take", "an acquire and its release", "what still breaks it")...))
	for _, e := range all {
		b.WriteString(cells(in.Say(e.situation), e.take(in), e.costs(in), e.breaking(in)))
	}
	const note = "Commands and round trips are those of a run in virtual time; milliseconds are half of the time at most, on %s on one machine (%s, %s). " +
		"*Lease outlived*: a holder that went on after its lease was over had company; no lock with leases keeps that from happening, and to keep the resource whole all the same is the guard's work."
	fmt.Fprintf(&b, "\n%s\n", in.Sayf(note, m.Server, m.On, m.Date))
	return b.String()
}

const (
	intro = "Six situations, and what of the catalogue to take in each: a [lock](locks.md) with a guard, which is how the sections that it protects write to their resource (`lockbench list guards`). " +
		"Rows are chosen, and all else comes from runs: every scenario that concerns such servers was played with the lock and its guard, in virtual time with seed 1."
	costIntro = "Costs are those of one client, with connections open and scripts known, as they cross the wire. A round trip is to the servers and back, before the next command can be sent. " +
		"The guard's commands are those that it adds to a section of one read and one write. Milliseconds are half of the time at most, [on real servers](#%s)."
)

// page is docs/choosing.md in a language.
func page(all []entry, others []newer, m measurement, in tongue) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Written by make docs from runs. Do not edit. -->\n\n# %s\n\n%s\n\n%s\n\n", in.Say("Which lock to take"), in.Say(intro),
		in.Sayf(costIntro, anchor(in.Say("On real servers"))))
	b.WriteString(header(in.Each("you have", "take", "why", "an acquire and its release", "what still breaks it", "shown by, and what fails there")...))
	for _, e := range all {
		b.WriteString(cells(in.Say(e.situation), e.take(in), in.Say(e.why), e.costs(in), e.breaking(in),
			in.Sayf("%s: %s", "`"+e.command(e.shows.scenario)+"`", labels(e.shows.properties, in))))
	}
	for _, e := range all {
		if e.servers.sentinels > 0 {
			const sentinel = "There are no Sentinels in virtual time: there the steps promote the replica themselves, as Sentinels do. `%s` plays random load with real ones."
			fmt.Fprintf(&b, "\n%s\n", in.Sayf(sentinel, e.underSentinels()))
		}
	}
	whole(&b, all, in)
	newerSection(&b, others, in)
	m.section(&b, all, in)
	return b.String()
}

// underSentinels shows the lock under real Sentinels.
func (r row) underSentinels() string {
	return fmt.Sprintf("lockbench run contend --lock %s --guard %s --nemesis sentinel --backend process --time-limit 30s", r.lock, r.guard)
}

// anchor is that of a heading, as GitHub makes it.
func anchor(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), " ", "-") }

// whole is the table of all that breaks some row.
func whole(b *strings.Builder, all []entry, in tongue) {
	const text = "Each scenario that breaks one of them, or that puts one to no test. `lockbench run P07 --lock NAME --guard NAME` plays one."
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", in.Say("All that breaks them"), in.Say(text))
	for _, h := range harms() {
		if slices.ContainsFunc(all, func(e entry) bool { return len(e.of(h)) > 0 }) {
			fmt.Fprintf(b, "- %s\n", in.Sayf("*%s*: %s (%s)", in.Say(h.String()), in.Say(h.definition()), labels(h.decides(), in)))
		}
	}
	fmt.Fprintf(b, "- ✓ %s\n- ? %s\n- – %s\n\n", in.Say("all properties hold"), in.Say("nothing was put to the test, as no client got so far"),
		in.Say("the scenario does not apply to the lock, or is not about such servers"))
	head := in.Each("pitfall", "what happens")
	for _, e := range all {
		head = append(head, in.Say(e.situation))
	}
	b.WriteString(header(head...))
	for _, s := range scenarios.All() {
		if slices.ContainsFunc(all, func(e entry) bool { return e.told(s) }) {
			row := []string{link(s), in.Say(s.Title)}
			for _, e := range all {
				row = append(row, e.cell(s, in))
			}
			b.WriteString(cells(row...))
		}
	}
	sums := []string{in.Say("more scenarios"), in.Say("all properties hold")}
	for _, e := range all {
		sums = append(sums, fmt.Sprint(e.unbroken(all)))
	}
	b.WriteString(cells(sums...))
}

// told reports whether a scenario is told of a row.
func (v verdicts) told(s scenarios.Scenario) bool {
	is := func(o scenarios.Scenario) bool { return o.ID == s.ID }
	return slices.ContainsFunc(v.broken, func(b broken) bool { return is(b.scenario) }) || slices.ContainsFunc(v.open, is)
}

// unbroken is how many scenarios a row's lock survives that no row is told of.
func (e entry) unbroken(all []entry) (n int) {
	for _, s := range e.held {
		if !slices.ContainsFunc(all, func(o entry) bool { return o.told(s) }) {
			n++
		}
	}
	return n
}

// cell is what a scenario does to a row's lock.
func (e entry) cell(s scenarios.Scenario, in tongue) string {
	is := func(o scenarios.Scenario) bool { return o.ID == s.ID }
	for _, b := range e.broken {
		if is(b.scenario) {
			return in.Say(kind(b.properties).String())
		}
	}
	switch {
	case slices.ContainsFunc(e.held, is):
		return "✓"
	case slices.ContainsFunc(e.open, is):
		return "?"
	}
	return "–"
}

func link(s scenarios.Scenario) string {
	file := strings.ToLower(s.ID) + "_" + strings.ReplaceAll(s.Name, "-", "_")
	return fmt.Sprintf("[%s %s](../scenarios/%s.schedule)", s.ID, s.Name, file)
}

// numbers are those of scenarios, three or more in a row as P34-P37.
func numbers(all []broken) string {
	var short []string
	for i := 0; i < len(all); {
		end := i
		for end+1 < len(all) && number(all[end+1].scenario) == number(all[end].scenario)+1 {
			end++
		}
		if text := all[i].scenario.ID; end-i < 2 {
			end, short = i, append(short, text)
		} else {
			short = append(short, text+"-"+all[end].scenario.ID)
		}
		i = end + 1
	}
	return strings.Join(short, ", ")
}

// labels are properties, as people call them.
func labels(all []checker.Property, in tongue) string { return in.List(in.Each(report.Labels(all)...)) }
