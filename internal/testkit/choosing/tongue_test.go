package choosing

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/language"
)

// tongue says the texts of the page in a language: those that runs have, too, as their pages do, and the others by a file of testdata.
type tongue struct {
	language.Language
	own  map[string]string // by their English
	said map[string]bool   // what was asked for beside what pages of runs say
}

// tongues are all languages that the page is written in, English first.
func tongues(t *testing.T) (all []tongue) {
	t.Helper()
	for _, l := range language.All() {
		in := tongue{Language: l, own: map[string]string{}, said: map[string]bool{}}
		if len(all) > 0 { // English needs no texts
			src, err := os.ReadFile(filepath.Join("testdata", l.Name()+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			in.own = language.Parse(string(src))
		}
		all = append(all, in)
	}
	return all
}

// Say returns a text in the language.
func (in tongue) Say(english string) string {
	if in.Has(english) && in.own[english] == "" {
		return in.Language.Say(english)
	}
	in.said[english] = true
	if text := in.own[english]; text != "" {
		return text
	}
	return english
}

// Sayf formats a text in the language.
func (in tongue) Sayf(english string, args ...any) string {
	return fmt.Sprintf(in.Say(english), args...)
}

// Each says each of several texts.
func (in tongue) Each(english ...string) (all []string) {
	for _, e := range english {
		all = append(all, in.Say(e))
	}
	return all
}

// whole checks that what was said is what the file of the language has.
func (in tongue) whole(t *testing.T) {
	t.Helper()
	if d := cmp.Diff(slices.Sorted(maps.Keys(in.said)), slices.Sorted(maps.Keys(in.own))); d != "" {
		t.Errorf("testdata/%s.txt (-said +there):\n%s", in.Name(), d)
	}
}

// cells is a row of a table.
func cells(all ...string) string { return "| " + strings.Join(all, " | ") + " |\n" }

// header is a row of a table, with the line below it.
func header(all ...string) string { return cells(all...) + strings.Repeat("|---", len(all)) + "|\n" }
