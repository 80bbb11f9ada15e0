package explore

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/schedule"
)

// provenFiles are the schedules that broke the catalogue's locks (make explored), by name of the lock, before they were made to wait for what
// comes before what: what happens in them can be done to other locks' commands, too.
//
//go:embed proven/*.schedule
var provenFiles embed.FS

// Proven is a schedule that broke a lock of the catalogue: a program, and what happened in it.
type Proven struct {
	Program    Program
	Deviations []Deviation // at commands of that lock; none: it broke in fair weather
}

// AllProven returns the schedules that broke the catalogue's locks, each once. Schedules of one program have the name of the first.
// An error says that a file is wrong.
func AllProven() (all []Proven, err error) {
	entries, err := provenFiles.ReadDir("proven")
	if err != nil {
		return nil, err
	}
	programs := map[string]string{} // the name of each, by what clients do
	known := map[string]bool{}
	for _, e := range entries {
		src, err := provenFiles.ReadFile("proven/" + e.Name())
		if err != nil {
			return nil, err
		}
		s, err := schedule.Parse(string(src))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		p, err := undone(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		does := p.Program
		does.Title = ""
		if programs[does.Schedule.String()] == "" {
			programs[does.Schedule.String()] = "found/" + strings.TrimSuffix(e.Name(), ".schedule")
		}
		p.Program.Name = programs[does.Schedule.String()]
		if what := p.Program.with(p.Deviations...).String(); !known[what] {
			known[what] = true
			all = append(all, p)
		}
	}
	return all, nil
}

// undone takes a schedule of a finding, as Finding.Text writes it, apart into a program and what happens in it. One with more than one
// deviation is an error, and so is what no deviation makes.
func undone(s schedule.Schedule) (Proven, error) {
	s.Name, s.Lock, s.Why, s.Expect = "", "", "", nil
	p := Proven{Program: Program{Schedule: s}}
	if p.Program.rules() == 0 {
		p.Program.Title = strings.TrimSuffix(s.Title, fairWeather)
		return p, nil
	}
	rule, last := s.Steps[0], waits(s.Steps)
	for _, act := range Acts() {
		d := Deviation{Point: Point{Client: rule.Who[0], Call: rule.Op, Server: "1", What: rule.What, Nth: rule.Nth}, Reply: rule.Reply, Act: act}
		if len(rule.On) > 0 {
			d.Server = rule.On[0]
		}
		done := len((Program{Schedule: schedule.Schedule{Steps: s.Steps[last:]}}).with(d).Steps) - len(s.Steps[last:]) // with the rule
		if done > last {
			continue
		}
		p.Program.Steps = slices.Concat(s.Steps[1:last-done+1], s.Steps[last:])
		if slices.EqualFunc(p.Program.with(d).Steps, s.Steps, func(a, b schedule.Step) bool { return a.String() == b.String() }) {
			p.Program.Title = strings.TrimSuffix(s.Title, "; "+d.String())
			p.Deviations = []Deviation{d}
			return p, nil
		}
	}
	return p, fmt.Errorf("%q begins nothing that a search can do to a program", rule)
}
