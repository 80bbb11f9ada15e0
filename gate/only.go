package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// choose returns the scenarios of the catalogue that one of the patterns names: by number,
// by name, or with * and ? for what they leave open. No pattern means all. A pattern that
// names nothing is an error.
func choose(catalogue []scenarios.Scenario, only []string) ([]scenarios.Scenario, error) {
	if len(only) == 0 {
		return catalogue, nil
	}
	chosen := make([]bool, len(catalogue))
	for _, pattern := range only {
		found := false
		for i, s := range catalogue {
			named, err := matches(pattern, s)
			if err != nil {
				return nil, err
			}
			if named {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, noScenario(catalogue, pattern)
		}
	}
	var some []scenarios.Scenario
	for i, s := range catalogue {
		if chosen[i] {
			some = append(some, s)
		}
	}
	return some, nil
}

func matches(pattern string, s scenarios.Scenario) (bool, error) {
	for _, name := range []string{s.ID, s.Name} {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return false, fmt.Errorf("--only %q is no pattern: want numbers such as P07, names, or names with * and ?", pattern)
		}
		if ok || strings.EqualFold(pattern, name) {
			return true, nil
		}
	}
	return false, nil
}

func noScenario(catalogue []scenarios.Scenario, pattern string) error {
	var known []string
	for _, s := range catalogue {
		known = append(known, s.Name)
	}
	if slices.ContainsFunc([]rune(pattern), func(r rune) bool { return strings.ContainsRune("*?[", r) }) {
		return fmt.Errorf("no scenario matches %q (lockbench list scenarios)", pattern)
	}
	return &locks.UnknownError{Kind: "scenario", Name: pattern, Nearest: locks.Nearest(pattern, known), Known: known}
}
