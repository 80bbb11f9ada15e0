package report

import (
	"github.com/lockbench/lockbench/checker"
)

// The words of the text report, for pages that other rooms draw.

// Harmless makes a string from outside harmless to a terminal, however long it is.
func Harmless(s string) string { return clean(s) }

// Brief is Harmless, and cut after that many characters.
func Brief(s string, most int) string { return brief(s, most) }

// Sentence says what was found in a run and whether that was expected, in the language of the run.
func Sentence(r Run) string { return sentence(r) }

// ResultText tells a result without the reasons why the whole run is vacuous, which concern all
// properties alike.
func ResultText(res checker.Result, vacuous []string) string { return resultText(res, vacuous) }

// Violated reports whether a property fails that was not given up beforehand.
func Violated(r Run) bool { return broken(r) }

// Conditions say what was run against what, as far as it is known: the lock, its guard, the
// backend and what its time is, the seed, the servers. They quote run.json as it is.
func Conditions(r Run) []string { return conditions(r) }
