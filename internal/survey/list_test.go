package survey

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/libraries"
)

const root = "../.."

// TestLibraries checks the list: each entry can be played, says what it must, and what it names is there.
func TestLibraries(t *testing.T) {
	names, languages, scripts := map[string]bool{}, map[string]bool{}, map[string]bool{}
	newer := map[string]bool{}
	for i, l := range append(Libraries(), Trixie()...) {
		if trixie := i >= len(Libraries()); trixie && (newer[l.Name] || !names[l.Name]) || !trixie && names[l.Name] {
			t.Errorf("%q: want a name of its own, and in Debian 13 that of a library of Debian 12", l.Name)
		} else if trixie {
			newer[l.Name] = true
		}
		if l.Promises == "" || l.Safely == "" || len(l.Version) == 0 || (l.Worker == "") == (l.Lock == "") {
			t.Errorf("%q: want promises, advice, a version, and a worker or a lock", l.Name)
		}
		names[l.Name], languages[l.Language] = true, true
		if _, ok := libraries.Catalogue().Find(l.Lock); l.Lock != "" && ok != nil {
			t.Errorf("%s: %v", l.Name, ok)
		}
		if l.Worker != "" {
			file(t, l.Worker)
		}
		for _, script := range l.Confirm {
			scripts[file(t, script)] = true
		}
		if l.Untimed != "" {
			scripts[file(t, l.Untimed)] = true
		}
		for _, of := range []map[string]string{l.Confirm, l.Upstream, l.Declared} {
			for about, what := range of {
				if _, ok := anomalies.Find(about); !ok && !slices.Contains(Asked(), about) {
					t.Errorf("%s: %q is about %q, which is neither an anomaly nor a pitfall that is asked", l.Name, what, about)
				}
			}
		}
	}
	if len(names) < 14 || len(languages) < 4 {
		t.Errorf("there are %d variants in %d languages, want 14 in 4", len(names), len(languages))
	}
	found, err := filepath.Glob(root + "/examples/confirm/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if name := strings.TrimPrefix(path, root+"/"); !scripts[name] {
			t.Errorf("nobody plays %s", name)
		}
		if n := says(t, path); n > 20 {
			t.Errorf("%s has %d lines that say something, want 20 at most", path, n)
		}
	}
}

// file is the one that a command plays.
func file(t *testing.T, command string) string {
	t.Helper()
	words := strings.Fields(command)
	at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "examples/") })
	if at < 0 {
		t.Fatalf("%q plays no file of the examples", command)
	}
	name := strings.TrimPrefix(words[at], "/lockbench/") // in a root
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		t.Error(err)
	}
	return name
}

// says counts the lines that say something: no comment, import, declaration of a package or bracket alone.
func says(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	nothing := regexp.MustCompile(`^\s*([\])}\s]*|(#|//|"""|<\?php|package |import |require|use ).*|(\w+ )?"[\w./-]+"|import \(|end)$`)
	n := 0
	for line := range strings.Lines(string(data)) {
		if !nothing.MatchString(strings.TrimRight(line, "\n")) {
			n++
		}
	}
	return n
}
