package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
)

//go:embed *.schedule
var files embed.FS

// defaultTTL is the lease of a schedule that does not say how long its leases are.
const defaultTTL = 3 * time.Second

// All returns the catalogue in the order of the pitfalls' numbers. What its scenarios hold is shared by all who call it, and not to be
// changed.
func All() []Scenario { return slices.Clone(read()) }

var read = sync.OnceValue(parseAll) //nolint:gochecknoglobals // the files are part of the program, and parsing them takes 10 ms

func parseAll() []Scenario {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	all := make([]Scenario, len(entries))
	for i, e := range entries {
		src, err := files.ReadFile(e.Name())
		if err == nil {
			all[i], err = Parse(string(src))
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %v", e.Name(), err)) // as TestCatalogueIsSound would have found
		}
	}
	// The file of P100 is listed before that of P11.
	slices.SortStableFunc(all, func(a, b Scenario) int { return ByNumber(a.ID, b.ID) })
	return all
}

// ByNumber compares the numbers of pitfalls: P99 comes before P100, and what has no number before both.
func ByNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// Parse reads a schedule and returns it as a scenario.
func Parse(src string) (Scenario, error) {
	s, err := schedule.Parse(src)
	if err != nil {
		return Scenario{}, err
	}
	of, err := Of(s)
	of.Text = src
	return of, err
}

// Of returns a schedule as a scenario. A guard, a property, a need or a promise that nobody knows is an error.
func Of(s schedule.Schedule) (Scenario, error) {
	of := Scenario{
		ID: s.ID, Name: s.Name, Title: s.Title, Source: s.Source, Why: s.Why,
		Replicas: s.Replicas, ClusterMode: s.ClusterMode, Clocks: s.Clocks, Threads: s.Threads, Keys: s.Keys,
		Faultless: s.Faultless || !s.Has(faults), Overtaking: s.Overtaken, Script: player.Script{Schedule: s}, InProcess: s.InProcess,
		Gaps: gaps(s.Gaps), TTL: s.TTL, RealTTL: s.RealTTL, Holds: s.Holds,
	}
	if of.TTL == 0 {
		of.TTL = defaultTTL
	}
	if of.RealTTL == 0 {
		of.RealTTL = of.TTL
	}
	var ok bool
	if of.Needs, ok = needs()[s.Needs]; !ok {
		return of, catalogue.Unknown("need", s.Needs, slices.Sorted(maps.Keys(needs())))
	}
	if of.Asks, ok = promises()[s.Asks]; !ok {
		return of, catalogue.Unknown("promise", s.Asks, slices.Sorted(maps.Keys(promises())))
	}
	named := slices.Clone(s.Gaps)
	for _, r := range s.Remedies {
		named = append(named, r.Gaps...)
	}
	for _, g := range named {
		if _, err := catalogue.Find("backend", g.Backend, histories.Backends(), func(name string) string { return name }); err != nil {
			return of, err
		}
	}
	for _, r := range s.Remedies {
		with := s
		with.Steps = r.Steps
		of.Remedies = append(of.Remedies, Remedy{Name: r.Name, Title: r.Title, Script: player.Script{Schedule: with}, Gaps: gaps(r.Gaps)})
	}
	if len(s.Expect) == 0 && s.Lock != "" {
		s.Expect = []schedule.Expect{{Lock: s.Lock, Guard: s.Guard}}
	}
	for _, e := range s.Expect {
		c, err := caseOf(s, e)
		if err != nil {
			return of, fmt.Errorf("%q: %w", e, err)
		}
		of.Cases = append(of.Cases, c)
	}
	return of, nil
}

// faults reports whether a step is a fault, or makes one.
func faults(p schedule.Step) bool { return p.Verb == schedule.Start || p.Verb == schedule.At }

func gaps(all []schedule.Gap) map[string]string {
	if len(all) == 0 {
		return nil
	}
	why := map[string]string{}
	for _, g := range all {
		why[g.Backend] = g.Why
	}
	return why
}

// caseOf returns what a schedule expects of a lock.
func caseOf(s schedule.Schedule, e schedule.Expect) (Case, error) {
	c := Case{Lock: e.Lock, Remedy: e.Remedy, Note: e.Note}
	if c.Lock == "" {
		c.Lock = s.Lock
	}
	if e.Guard != "" {
		g, err := resource.FindGuard(e.Guard)
		if err != nil {
			return c, err
		}
		c.Guard = g
	}
	for verdict, properties := range map[checker.Verdict][]string{checker.Fail: e.Fail, checker.Unknown: e.Unknown} {
		for _, name := range properties {
			p, err := catalogue.Find("property", name, checker.Properties(), func(p checker.Property) string { return string(p) })
			if err != nil {
				return c, err
			}
			if c.Want == nil {
				c.Want = checker.Expectation{}
			}
			c.Want[p] = verdict
		}
	}
	return c, nil
}
