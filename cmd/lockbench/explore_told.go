package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/words"
)

// tellAll tells what was found. The first that breaks a property is told in full, and the others in two lines.
func tellAll(all []told, stdout io.Writer) {
	shown := map[checker.Property]bool{}
	texts := map[string]bool{}
	var more strings.Builder
	for _, f := range all {
		if f.text != "" && texts[f.text] {
			continue
		}
		texts[f.text] = true
		if volumeOf(stdout) != report.Full && !slices.ContainsFunc(f.Broken, func(p checker.Property) bool { return !shown[p] }) {
			fmt.Fprintf(&more, "  %s: %s\n", f.broken(), f.Title())
			if f.command != "" {
				fmt.Fprintf(&more, "    %s\n", f.command)
			}
			continue
		}
		for _, p := range f.Broken {
			shown[p] = true
		}
		f.tell(stdout)
	}
	if more.Len() > 0 {
		fmt.Fprintf(stdout, "\nThe same is broken by other schedules:\n%s", more.String())
	}
}

// broken names what a finding breaks, behind the name of the anomaly that it shows.
func (f told) broken() string {
	text := strings.Join(report.Labels(f.Broken), ", ")
	if a, ok := anomalies.Find(f.Anomaly); ok {
		return a.String() + ": " + text
	}
	return text
}

// tell tells a finding in full.
func (f told) tell(stdout io.Writer) {
	f.head(stdout)
	if len(f.KeptBy) > 0 {
		fmt.Fprintf(stdout, "         %s kept by %s\n", are(len(f.Broken)), strings.Join(f.KeptBy, ", "))
	} else {
		fmt.Fprintln(stdout, "         no other lock of its class can play the program")
	}
	f.steps(stdout)
	for _, line := range []string{f.command, f.page} {
		if line != "" {
			fmt.Fprintf(stdout, "         %s\n", line)
		}
	}
}

// head tells what a finding breaks, and how.
func (f told) head(stdout io.Writer) {
	fmt.Fprintf(stdout, "\nBROKEN   %s\n         %s\n", f.broken(), f.Title())
}

// steps tells its schedule.
func (f told) steps(stdout io.Writer) {
	for line := range strings.Lines(f.text) {
		fmt.Fprintf(stdout, "           %s", line)
	}
}

func are(n int) string {
	if n == 1 {
		return "it is"
	}
	return "they are"
}

// tellRest tells what is no finding.
func tellRest(found explore.Record, stdout io.Writer) {
	if len(found.Weaknesses) > 0 {
		by := map[string][]string{}
		for _, w := range found.Weaknesses {
			kind := w.Kind
			if kind == "" {
				kind = "in fair weather"
			}
			by[report.Label(w.Property)] = append(by[report.Label(w.Property)], kind)
		}
		fmt.Fprintln(stdout, "\nWeaknesses of its class, which other locks of it have too:")
		for _, property := range slices.Sorted(maps.Keys(by)) {
			fmt.Fprintf(stdout, "  %s: %s\n", property, strings.Join(slices.Compact(slices.Sorted(slices.Values(by[property]))), "; "))
		}
	}
	if found.Unmeasured > 0 {
		fmt.Fprintf(stdout, "\nUnder a fault it broke a property %s in a program that no other lock of its class can play. That is not counted.\n", words.Times(found.Unmeasured))
	}
	for _, p := range found.Differing {
		fmt.Fprintf(stdout, "\nNot deterministic: two runs of one schedule differ, so that what is said of it may not be seen again: %s\n", report.Harmless(p))
	}
	if n := found.Drawn; n.N >= enough {
		fmt.Fprintf(stdout, "\nOf %d schedules that were drawn, %d came to what no other came to: about as likely as %.2g the next one would show something new.\n", n.N, n.Once, float64(n.Once)/float64(n.N))
	}
	for i, why := range found.GivenUp {
		if i == 3 {
			fmt.Fprintf(stdout, "… and %d more\n", len(found.GivenUp)-i)
			break
		}
		first, _, _ := strings.Cut(why, "\n") // where everybody stood comes after it
		fmt.Fprintf(stdout, "\ngiven up: %s\n", report.Harmless(first))
	}
}

// enough is how many schedules must have been drawn to say something of those that were not.
const enough = 1000

// tellHead says what was explored.
func tellHead(r explore.Record, stdout io.Writer) {
	shard := ""
	if r.Shards > 1 {
		shard = fmt.Sprintf(", part %d of %d", r.Shard, r.Shards)
	}
	name := r.Explored
	if r.Guard != resource.None.String() {
		name += " with guard " + r.Guard
	}
	place := "in virtual time"
	if r.Backend != "" {
		place = "on backend " + r.Backend
	}
	fmt.Fprintf(stdout, "%s  %s of %d of %s %s, each with %s%s, and %s of other locks to measure it by\n", name, words.Count(r.Runs, "run"),
		len(r.Done), words.Count(len(r.Programs), "program"), place, map[int]string{0: "no deviation", 1: "one deviation at most", 2: "two deviations at most"}[r.Depth], shard, words.Count(r.Measures, "run"))
	if n := r.Proven; n.Meant > 0 {
		fmt.Fprintf(stdout, "%d of %s that broke other locks", n.Played, words.Count(n.Meant, "schedule"))
		if n.Unmet > 0 {
			fmt.Fprintf(stdout, ", %d of them without what happened there, as the lock sends no command then, or it cannot be had here", n.Unmet)
		}
		fmt.Fprintln(stdout)
	}
	if r.Schedules > 0 {
		fmt.Fprintf(stdout, "%s: all that the programs have that were explored whole", words.Count(int(r.Schedules), "schedule"))
		if r.Drawn.N > 0 {
			fmt.Fprintf(stdout, "; %d of two and three deviations were drawn besides", r.Drawn.N)
		}
		fmt.Fprintln(stdout)
		tellPoints(r, stdout)
	}
}

// tellPoints says at how many commands something was made to happen, and why it was not at the others.
func tellPoints(r explore.Record, stdout io.Writer) {
	if r.Depth == 0 {
		return
	}
	fmt.Fprintf(stdout, "%s of clients in fair weather: every deviation at %d of them", words.Count(r.Points.Sent, "command"), r.Points.Met())
	var none []string
	for _, of := range []struct {
		n   int
		why string
	}{
		{r.Points.Polls, "of a poll that others stand for"}, {r.Points.Masters, "to a master that the first stands for"}, {r.Points.Steps, "in a program of steps"},
	} {
		if of.n > 0 {
			none = append(none, fmt.Sprintf("%d %s", of.n, of.why))
		}
	}
	if len(none) > 0 {
		fmt.Fprintf(stdout, ", and none at %s", strings.Join(none, ", "))
	}
	fmt.Fprintf(stdout, "; a deviation missed its command in %s\n", words.Count(r.Missed, "run"))
}

// verdict says how a search ended, after so many findings, and with which code the command does.
func verdict(r explore.Record, places int) (text string, code int) {
	rest := len(r.Programs) - len(r.Done)
	switch {
	case len(r.Findings) > 0:
		return fmt.Sprintf("broken. It does not keep what locks of its class keep, by %s.", words.Count(places, "schedule")), exitUnexpected
	case r.Proven.Played < r.Proven.Meant:
		return fmt.Sprintf("nothing was found in the time that there was, and %d of %s that broke other locks were not played.",
			r.Proven.Meant-r.Proven.Played, words.Count(r.Proven.Meant, "schedule")), exitUnknown
	case rest > 0:
		return fmt.Sprintf("nothing was found in the time that there was, and %s of %d were not explored whole: nothing can be said of them.",
			words.Count(rest, "program"), len(r.Programs)), exitUnknown
	case r.Undrawn() > 0:
		return fmt.Sprintf("nothing was found, and %s that were to be drawn were not: nothing can be said of them.", words.Count(r.Undrawn(), "schedule")), exitUnknown
	case len(r.Differing) > 0:
		return fmt.Sprintf("nothing was found, and runs cannot be relied on: %s of %d came out in two ways.", words.Count(len(r.Differing), "schedule"), r.Twice), exitUnknown
	case len(r.GivenUp) > 0:
		return fmt.Sprintf("nothing was found, and %s could not be played to the end: nothing can be said of them.", words.Count(len(r.GivenUp), "schedule")), exitUnknown
	case r.Shards > 1 && r.Shard > 0:
		return "nothing was found in this part; lockbench merge joins the parts.", exitExpected
	}
	return "no schedule breaks what locks of its class keep.", exitExpected
}

// conclude tells the rest, the overview and the verdict, after so many findings, and says how the command ends.
func conclude(r explore.Record, places int, stdout io.Writer) error {
	tellRest(r, unlessTerse(stdout))
	if err := tellOverview(r.Overview(), styleOf(stdout), unlessTerse(stdout)); err != nil {
		return failure(err)
	}
	text, code := verdict(r, places)
	fmt.Fprintln(unlessTerse(stdout))
	fmt.Fprintf(stdout, "Verdict: %s\n", text)
	if code != exitExpected {
		return &exitError{code: code}
	}
	return nil
}

// writeRecord writes what was found into the files that were asked for.
func writeRecord(r explore.Record, asJSON, asJUnit string) error {
	if asJSON != "" {
		var b bytes.Buffer
		if err := report.WriteJSON(&b, r); err != nil {
			return err
		}
		if err := gate.WriteFile(asJSON, b.Bytes()); err != nil {
			return err
		}
	}
	if asJUnit == "" {
		return nil
	}
	var b bytes.Buffer
	if err := report.WriteJUnit(&b, "lockbench explore "+r.Explored, 0, []report.Suite{suite(r)}); err != nil {
		return err
	}
	return gate.WriteFile(asJUnit, b.Bytes())
}

// suite has a case for each program.
func suite(r explore.Record) report.Suite {
	s := report.Suite{Name: r.Explored}
	names := slices.Clone(r.Programs)
	for _, k := range r.Findings { // in programs that broke other locks
		if !slices.Contains(names, k.Program) {
			names = append(names, k.Program)
		}
	}
	for _, name := range names {
		c := report.Case{Class: "lockbench." + r.Explored, Name: name}
		for _, k := range r.Findings {
			if k.Program == name && c.Failure == nil {
				c.Failure = &report.Message{Type: "unexpected", Text: strings.Join(report.Labels(k.Broken), ", "), Body: k.Schedule}
			}
		}
		if c.Failure == nil && !slices.Contains(r.Done, name) {
			c.Failure = &report.Message{Type: "unknown", Text: "it was not explored whole"}
		}
		s.Cases = append(s.Cases, c)
	}
	if n := r.Proven; n.Meant > 0 {
		c := report.Case{Class: "lockbench." + r.Explored, Name: "what broke other locks"}
		if n.Played < n.Meant {
			c.Failure = &report.Message{Type: "unknown", Text: fmt.Sprintf("%d of %s were not played", n.Meant-n.Played, words.Count(n.Meant, "schedule"))}
		}
		s.Cases = append(s.Cases, c)
	}
	if len(r.GivenUp)+len(r.Differing) > 0 || r.Undrawn() > 0 {
		s.Cases = append(s.Cases, report.Case{Class: "lockbench." + r.Explored, Name: "the search", Failure: &report.Message{
			Type: "unknown", Text: fmt.Sprintf("%s given up, %d came out in two ways, and %d were not drawn", words.Count(len(r.GivenUp), "schedule"), len(r.Differing), r.Undrawn()),
			Body: strings.Join(slices.Concat(r.GivenUp, r.Differing), "\n"),
		}})
	}
	return s
}
