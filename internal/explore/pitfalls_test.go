package explore_test

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// pitfallsFile is what TestPitfallsShown writes.
const pitfallsFile = "../../docs/explored-pitfalls.md"

// fewestPitfalls is how many scenarios a search must come upon.
const fewestPitfalls = 64

// about is a lock and a guard that scenarios are about.
type about struct {
	lock  string
	guard resource.Guard
}

// mostSights is how many schedules are kept that show a symptom. Not in each of them can a lock that shares it be measured.
const mostSights = 24

// sight is a schedule in which a symptom was seen, of a lock and a guard.
type sight struct {
	program explore.Program
	accused bool // the search has taken it for the lock's own fault
}

// survey is a search that looks whether what scenarios show comes up in it, too.
type survey struct {
	about
	spec    locks.Spec
	backend harness.Backend

	mu     sync.Mutex
	want   map[symptom]bool
	blamed map[checker.Property]bool // that the lock is accused of, whatever the cause
	seen   map[symptom][]sight       // mostSights of one at most, and the one by which the lock is accused comes first
}

// symptomsOf plays a schedule as any other, and returns what is broken in it, and why.
func (s *survey) symptomsOf(ctx context.Context, p explore.Program, spec locks.Spec) ([]symptom, error) {
	p.Lock = spec.Name
	of, err := scenarios.Of(p.Schedule)
	if err != nil {
		return nil, err
	}
	cfg, err := of.Config(spec, s.guard, s.backend, 0)
	if err != nil {
		return nil, err
	}
	cfg.Seed = 1
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return symptoms(brokenIn(res.Report), res.Causes), nil
}

func brokenIn(r checker.Report) (all []checker.Property) {
	for _, res := range r.Results {
		if res.Verdict == checker.Fail {
			all = append(all, res.Property)
		}
	}
	return all
}

// play is explore.InProcess, and looks at what the lock itself breaks.
func (s *survey) play(player explore.Player) explore.Player {
	return func(ctx context.Context, p explore.Program, spec locks.Spec) (explore.Outcome, error) {
		out, err := player(ctx, p, spec)
		if err == nil && spec.Name == s.lock && s.open(out.Fail) {
			s.note(ctx, p, false)
		}
		return out, err
	}
}

// open reports whether some of the properties belong to a symptom that was not seen yet.
func (s *survey) open(properties []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of := range s.want {
		if len(s.seen[of]) < mostSights && slices.Contains(properties, string(of.property)) {
			return true
		}
	}
	return false
}

// note keeps what symptoms a schedule shows.
func (s *survey) note(ctx context.Context, p explore.Program, accused bool, of ...checker.Property) {
	all, err := s.symptomsOf(ctx, p, s.spec)
	if err != nil {
		return // it cannot be played as others are
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range all {
		switch {
		case !s.want[one]:
		case !accused:
			s.seen[one] = append(s.seen[one], sight{p, false})
		case slices.Contains(of, one.property) && !s.accused(one):
			s.seen[one] = slices.Insert(s.seen[one], 0, sight{p, true})
		}
	}
}

// accused reports whether the lock was accused by a symptom.
func (s *survey) accused(of symptom) bool { return len(s.seen[of]) > 0 && s.seen[of][0].accused }

// done reports whether the lock was accused by all that is looked for.
func (s *survey) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of := range s.want {
		if !s.accused(of) {
			return false
		}
	}
	return true
}

// look searches, until the lock is accused by all that is looked for.
func (s *survey) look(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opt := explore.Options{Play: s.play(explore.InProcess()), Depth: 1, Guard: s.guard, Among: libraries.Catalogue(), Jobs: runtime.GOMAXPROCS(0)}
	opt.Found = func(f explore.Finding) {
		for _, property := range f.Broken {
			s.blamed[property] = true
		}
		s.note(ctx, f.Schedule(), true, f.Broken...)
		if s.done() {
			cancel()
		}
	}
	if _, err := explore.Explore(ctx, s.spec, opt); err != nil {
		t.Error(err)
	}
}

// sharer is a reference of the lock's that breaks the property in a schedule in which the lock shows a symptom.
func (s *survey) sharer(t *testing.T, of symptom) (by string, seen explore.Program) {
	t.Helper()
	for _, one := range s.seen[of] {
		for _, ref := range slices.Concat(s.spec.References(false, locks.Steps{Failover: one.program.Replicas > 0}, libraries.Catalogue())...) {
			all, err := s.symptomsOf(t.Context(), one.program, ref)
			if err == nil && slices.ContainsFunc(all, func(other symptom) bool { return other.property == of.property }) {
				return ref.Name, one.program
			}
		}
	}
	return "", explore.Program{}
}

// shownBy are the symptoms of what a scenario is about.
func shownBy(t *testing.T, s scenarios.Scenario) []symptom {
	t.Helper()
	c := s.Broken()
	lock, err := libraries.Catalogue().Find(c.Lock)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(lock, c.Guard, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed = 1
	res, err := harness.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return symptoms(failing(c.Want), res.Causes)
}

// TestPitfallsShown searches for what each scenario of the catalogue shows, from nothing but the names of the lock and the guard: the same
// property must be broken, for the same cause. The lock is accused of it, or a lock of its class breaks it in the same schedule.
func TestPitfallsShown(t *testing.T) {
	if !*update && !effort.Nightly() {
		t.Skip("optional: the whole search takes many minutes: it runs nightly")
	}
	surveys := map[about]*survey{}
	wanted := map[string][]symptom{}
	for _, s := range scenarios.All() {
		of := about{s.Broken().Lock, s.Broken().Guard}
		if surveys[of] == nil {
			surveys[of] = &survey{about: of, spec: find(t, of.lock), backend: harness.Embedded(), want: map[symptom]bool{}, blamed: map[checker.Property]bool{}, seen: map[symptom][]sight{}}
		}
		for _, one := range shownBy(t, s) {
			wanted[s.ID] = append(wanted[s.ID], one)
			surveys[of].want[one] = true
		}
	}
	for of, s := range surveys {
		s.look(t)
		t.Logf("%s with guard %s: %d of %d", of.lock, of.guard, len(s.seen), len(s.want))
	}
	var rows strings.Builder
	shown := 0
	for _, s := range scenarios.All() {
		row, ok := surveys[about{s.Broken().Lock, s.Broken().Guard}].row(t, wanted[s.ID])
		if ok {
			shown++
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", s.ID, s.Name, s.Broken(), row)
	}
	if shown < fewestPitfalls {
		t.Errorf("what %d of %d scenarios show came up, want %d\n%s", shown, len(scenarios.All()), fewestPitfalls, rows.String())
	}
	if *update {
		write(t, pitfallsFile, fmt.Sprintf(pitfallsHead, shown, len(scenarios.All()))+rows.String())
	}
}

// row tells how a search came upon one of the symptoms: by accusing the lock, or else by a lock that shares it. The lock may be
// accused of the property for another cause, too, which was found before.
func (s *survey) row(t *testing.T, all []symptom) (row string, shown bool) {
	t.Helper()
	tell := func(of symptom, how string, p explore.Program) string {
		return fmt.Sprintf("%s | %s | %s | %s | %s", how, strings.ReplaceAll(string(of.property), "-", " "), cmp.Or(string(of.cause), "-"), p.Name, deviationOf(p))
	}
	for _, of := range all {
		if s.accused(of) {
			return tell(of, "found", s.seen[of][0].program), true
		}
	}
	for _, of := range all {
		if by, p := s.sharer(t, of); by != "" {
			return tell(of, "weakness, of "+by+" too", p), true
		}
	}
	for _, of := range all {
		switch {
		case len(s.seen[of]) == 0:
		case s.blamed[of.property]:
			return tell(of, "found, for another cause first", s.seen[of][0].program), true
		default:
			row = tell(of, "seen, and not held against the lock", s.seen[of][0].program)
		}
	}
	return cmp.Or(row, "- | - | - | - | -"), false
}

// deviationOf are the steps by which a schedule departs from its program.
func deviationOf(p explore.Program) string {
	var steps []string
	for _, s := range p.Steps {
		if s.Verb == schedule.At || s.Verb == schedule.Start {
			steps = append(steps, "`"+s.String()+"`")
		}
	}
	return cmp.Or(strings.Join(steps, ", "), "none")
}

const pitfallsHead = `# What a search finds of the catalogue's pitfalls

Written by ` + "`make explored`" + `: of the lock and the guard that a scenario is about, a schedule of one deviation at most in which the same
property is broken for the same cause (cause -: none is derived, and the property alone is compared). *Found*: the search accuses the
lock of it; for another cause first: it is accused of the property, and the schedule that has this cause came later. *Weakness*: the lock is not accused, and the lock that is named breaks the property under the very schedule, too.
It came upon %d of %d.

| pitfall | scenario | lock | how | property | cause | program | deviation |
|---|---|---|---|---|---|---|---|
`
