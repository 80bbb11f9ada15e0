package house

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryTestIsRun checks that make test runs whatever it keeps from the race detector without it: a test of that name is nowhere but
// where it does.
func TestEveryTestIsRun(t *testing.T) {
	makefile, err := os.ReadFile(path.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	variable := func(name string) string {
		found := regexp.MustCompile(`(?m)^` + name + ` +:= (.*)$`).FindSubmatch(makefile)
		if found == nil {
			t.Fatalf("the Makefile has no %s", name)
		}
		return strings.ReplaceAll(string(found[1]), "$$", "$")
	}
	unraced, alone := regexp.MustCompile(variable("UNRACED")), regexp.MustCompile(variable("ALONE"))
	with := strings.Fields(variable("WITH"))
	names, rooms := map[string]bool{}, map[string]bool{}
	for file, source := range goFiles(t) {
		room := "./" + path.Dir(file)
		for _, test := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			rooms[room] = true
			if name := string(test[1]); unraced.MatchString(name) {
				names[name] = true
				if !slices.Contains(with, room) && !alone.MatchString(room) {
					t.Errorf("%s of %s is run neither with the race detector nor without", name, room)
				}
			}
		}
	}
	if wanted := strings.Count(unraced.String(), "|") + 1; len(names) != wanted {
		t.Errorf("UNRACED names %d tests, of which there are %d", wanted, len(names))
	}
	for _, room := range strings.Fields(variable("WAITING")) {
		if !rooms[room] || alone.MatchString(room) {
			t.Errorf("WAITING names %s, which has no tests, or is tested without the race detector", room)
		}
	}
	for _, room := range with {
		if alone.MatchString(room) {
			t.Errorf("%s is tested without the race detector twice", room)
		}
	}
}
