// Package catalogue finds what has a name in a list, and tells who asks for what is not there what he
// may have meant.
package catalogue

import (
	"fmt"
	"strings"
)

// fewNames is how many names an error tells. More are for a list.
const fewNames = 12

// Find returns the entry of a list that has a name, or an *UnknownError. Kind is what the list is of.
func Find[E any](kind, name string, all []E, nameOf func(E) string) (E, error) {
	known := make([]string, len(all))
	for i, e := range all {
		if known[i] = nameOf(e); known[i] == name {
			return e, nil
		}
	}
	var none E
	return none, Unknown(kind, name, known)
}

// Unknown returns the error of a name that is none of the known ones.
func Unknown(kind, name string, known []string) *UnknownError {
	return &UnknownError{Kind: kind, Name: name, Nearest: Nearest(name, known), Known: known}
}

// UnknownError says that a catalogue has no entry of that name.
type UnknownError struct {
	Kind    string // what was looked for: "lock", "scenario", ...
	Name    string
	Nearest string   // the likely meaning; empty if nothing is close
	Known   []string // every name there is
}

func (e *UnknownError) Error() string {
	switch {
	case e.Nearest != "":
		return fmt.Sprintf("no %s %q; did you mean %s?", e.Kind, e.Name, e.Nearest)
	case len(e.Known) > fewNames:
		return fmt.Sprintf("no %s %q, and none of the %d that there are is like it", e.Kind, e.Name, len(e.Known))
	}
	return fmt.Sprintf("no %s %q; known: %s", e.Kind, e.Name, strings.Join(e.Known, ", "))
}

// Nearest returns the known name with the fewest edits from name, the first of equals.
// It returns "" if more than half of the longer name would have to change.
func Nearest(name string, known []string) string {
	nearest, fewest := "", 0
	for _, k := range known {
		d := editDistance(name, k)
		if 2*d > max(len(name), len(k)) {
			continue
		}
		if nearest == "" || d < fewest {
			nearest, fewest = k, d
		}
	}
	return nearest
}

// editDistance counts the bytes to insert, delete or replace to turn a into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances from the part of a seen so far to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
