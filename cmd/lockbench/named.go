package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// number is how people write the number of a pitfall: P07, p7 or 7.
var number = regexp.MustCompile(`^[Pp]?0*(\d{1,3})$`)

// scenarioNamed finds the scenario that somebody means: by its name, by the number of its
// pitfall, or by a demo of it. An error says what else has that name, or one like it.
func scenarioNamed(name string) (scenarios.Scenario, error) {
	word := name
	if m := number.FindStringSubmatch(name); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return scenarios.Scenario{}, err
		}
		word = fmt.Sprintf("P%02d", n)
	}
	s, unknown := scenarios.Find(word)
	if unknown == nil {
		return s, nil
	}
	if lock, err := libraries.Catalogue().Find(name); err == nil {
		return s, isALock(lock)
	}
	if d, err := demo.Find(name); err == nil {
		return scenarios.Find(d.Scenario)
	}
	if slices.Contains(harness.Workloads(), name) {
		return s, fmt.Errorf("%s is random load and no scenario: lockbench run --workload %[1]s", name)
	}
	if e, ok := errors.AsType[*catalogue.UnknownError](unknown); ok && e.Nearest == "" {
		if lock := catalogue.Nearest(name, lockNames()); lock != "" {
			return s, fmt.Errorf("no scenario %q; did you mean the lock %s? (lockbench list scenarios, lockbench list locks)", name, lock)
		}
	}
	return s, unknown
}

// isALock says that a name is not a scenario's but a lock's, and what to do with it.
func isALock(lock locks.Spec) error {
	var about []string
	for _, s := range scenarios.All() {
		if slices.ContainsFunc(s.Cases, func(c scenarios.Case) bool { return c.Lock == lock.Name && !s.Holds && !s.Saves(c) }) {
			about = append(about, s.ID)
		}
	}
	what := lock.Name + " is a lock"
	if d, err := demo.Find(lock.Name); err == nil {
		what += " and a demo (lockbench demo " + d.Name + ")"
	}
	if len(about) == 0 {
		return fmt.Errorf("%s; no scenario is there to break it. To put it through all of them: lockbench gate --lock %s", what, lock.Name)
	}
	verb := "break"
	if len(about) == 1 {
		verb = "breaks"
	}
	return fmt.Errorf("%s; %s %s it. To see it: lockbench run --scenario %s --lock %s",
		what, enumerated(about), verb, about[0], lock.Name)
}

// enumerated is a list in a sentence.
func enumerated(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// take takes the one word that run may be given instead of a flag: a scenario, a pitfall, a demo
// or a workload, or beside one of these the lock.
func (f *runFlags) take(args []string) error {
	if len(args) == 0 {
		return nil
	}
	name := args[0]
	if f.scenario != "" || f.workload != "" {
		if _, err := libraries.Catalogue().Find(name); err == nil && f.lock == "" {
			f.lock = name
			return nil
		}
		return fmt.Errorf("run has --scenario or --workload and %q, want one of them (lockbench run --help)", name)
	}
	if slices.Contains(harness.Workloads(), name) {
		f.workload = name
		return nil
	}
	if isFile(name) { // it is read with the other flags
		f.scenario = name
		return nil
	}
	s, err := scenarioNamed(name)
	f.scenario = s.Name
	return err
}
