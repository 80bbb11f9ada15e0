package gate

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/scenarios"
)

// choose returns the scenarios of the catalogue that one of the patterns names: by number,
// by a range of numbers, by name, or with * and ? for what they leave open. No pattern means
// all. A pattern that names nothing is an error.
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
	if from, to, ok := span(pattern); ok {
		n, err := number(s.ID)
		return err == nil && from <= n && n <= to, nil
	}
	for _, name := range []string{s.ID, s.Name} {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return false, fmt.Errorf("--only %q is no pattern: want numbers such as P07 or P17-P20, names, or names with * and ?", pattern)
		}
		if ok || strings.EqualFold(pattern, name) {
			return true, nil
		}
	}
	return false, nil
}

// span reads a range of numbers such as P17-P20.
func span(pattern string) (from, to int, ok bool) {
	first, last, _ := strings.Cut(pattern, "-")
	from, err1 := number(first)
	to, err2 := number(last)
	return from, to, err1 == nil && err2 == nil
}

// number is the 17 of P17.
func number(id string) (int, error) {
	return strconv.Atoi(strings.TrimPrefix(strings.ToUpper(id), "P"))
}

func noScenario(all []scenarios.Scenario, pattern string) error {
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
	}
	if _, _, isRange := span(pattern); isRange || strings.ContainsAny(pattern, "*?[") {
		return fmt.Errorf("no scenario matches %q (lockbench list scenarios)", pattern)
	}
	return catalogue.Unknown("scenario", pattern, known)
}
