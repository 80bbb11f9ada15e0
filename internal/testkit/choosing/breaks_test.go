package choosing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/scenarios"
)

// harm is what a scenario does to a lock, worst first.
type harm int

const (
	damaged  harm = iota // what the lock protects is wrong
	doubled              // the lock has two holders, both within their leases
	outlived             // a holder went on after its lease, and another was let in
	repeated             // what was done is done again by who gets the lock later
	awkward              // anything else
)

func harms() []harm { return []harm{damaged, doubled, outlived, repeated, awkward} }

// decides are the properties of which one must be broken for that harm.
func (h harm) decides() []checker.Property {
	switch h {
	case damaged:
		return []checker.Property{checker.ResourceSafety, checker.CounterSafety}
	case doubled:
		return []checker.Property{checker.LeaseExclusion, checker.LeaseHonoured}
	case outlived:
		return []checker.Property{checker.StrictExclusion}
	case repeated:
		return []checker.Property{checker.SingleWinner}
	}
	return nil
}

// String is the harm in a cell.
func (h harm) String() string {
	return []string{"resource damaged", "two hold it", "lease outlived", "done again", "something else"}[h]
}

// definition says what the harm is.
func (h harm) definition() string {
	return []string{
		"what the lock protects is wrong",
		"the lock has two holders at once, both within their leases",
		"a holder goes on after its lease, and the next one was let in",
		"what was done is done again by who gets the lock later",
		"anything else",
	}[h]
}

// kind sums up what is broken.
func kind(broken []checker.Property) harm {
	for _, h := range harms() {
		if slices.ContainsFunc(broken, func(p checker.Property) bool { return slices.Contains(h.decides(), p) }) {
			return h
		}
	}
	return awkward
}

// broken is a scenario in which something fails even so.
type broken struct {
	scenario   scenarios.Scenario
	properties []checker.Property
}

// verdicts are what the scenarios that concern a row's servers do to its lock and guard.
type verdicts struct {
	broken []broken             // in the order of the catalogue
	held   []scenarios.Scenario // in which all properties hold
	open   []scenarios.Scenario // whose steps put nothing to the test
}

// judge plays all scenarios that concern a row, in virtual time with seed 1.
func judge(ctx context.Context, r row) (v verdicts, err error) {
	lock, err := libraries.Catalogue().Find(r.lock)
	if err != nil {
		return v, err
	}
	backend := harness.Embedded()
	for _, s := range scenarios.All() {
		if !r.servers.concerns(s) {
			continue
		}
		cfg, err := s.Config(lock, r.guard, backend, 0)
		if inapplicable(err) {
			continue
		}
		if err != nil {
			return v, err
		}
		cfg.Seed, cfg.NoCauses, cfg.CommandLog = 1, true, false
		res, err := harness.Run(ctx, cfg)
		if inapplicable(err) {
			continue
		}
		if err != nil {
			return v, fmt.Errorf("%s with %s: %w", s.ID, r.lock, err)
		}
		v.add(s, res.Report)
	}
	return v, nil
}

// inapplicable reports whether a scenario has nothing to say of a lock: it does not go with it, or the lock never comes to a point that a step waits for.
func inapplicable(err error) bool {
	_, unfit := errors.AsType[*harness.UnfitError](err)
	_, never := errors.AsType[*player.UnplayableError](err)
	return unfit || never
}

func (v *verdicts) add(s scenarios.Scenario, found checker.Report) {
	var fails []checker.Property
	for _, res := range found.Results {
		if res.Verdict == checker.Fail {
			fails = append(fails, res.Property)
		}
	}
	switch {
	case len(fails) > 0:
		v.broken = append(v.broken, broken{s, fails})
	case found.Verdict == checker.Pass:
		v.held = append(v.held, s)
	default:
		v.open = append(v.open, s)
	}
}

// played is how many scenarios put the lock to a test.
func (v verdicts) played() int { return len(v.broken) + len(v.held) }

// of are those that do a harm.
func (v verdicts) of(h harm) (all []broken) {
	for _, b := range v.broken {
		if kind(b.properties) == h {
			all = append(all, b)
		}
	}
	return all
}

// shown is the scenario that shows the worst that happens. What is about the row's servers comes first, unless it is no more than that a
// lease is outlived.
func (r row) shown(v verdicts) (broken, bool) {
	worst := slices.Concat(v.of(damaged), v.of(doubled))
	if own := slices.IndexFunc(worst, func(b broken) bool { return r.servers.own(b.scenario) }); own >= 0 {
		return worst[own], true
	}
	for _, h := range harms() {
		if all := v.of(h); len(all) > 0 {
			return all[0], true
		}
	}
	return broken{}, false
}

// number is that of a scenario.
func number(s scenarios.Scenario) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(s.ID, "P")) // one without is 0, and follows upon none
	return n
}

// command shows a scenario with the row's lock and guard.
func (r row) command(s scenarios.Scenario) string {
	return fmt.Sprintf("lockbench run %s --lock %s --guard %s --expect fail", s.ID, r.lock, r.guard)
}
