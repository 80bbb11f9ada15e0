package html

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// TestEveryTextIsTranslated collects what pages of runs say and compares it with what each language has: a text that is missing and one
// that nobody says are both mistakes.
func TestEveryTextIsTranslated(t *testing.T) {
	said := map[string]bool{}
	add := func(all ...string) {
		for _, text := range all {
			said[text] = true
		}
	}
	literals(t, add)
	for _, m := range regexp.MustCompile(`\{\{-?\s*(?:say|tell) "([^"]*)"|\(say "([^"]*)"\)|=\{\{say "([^"]*)"`).FindAllStringSubmatch(source, -1) {
		add(m[1] + m[2] + m[3])
	}
	for _, m := range regexp.MustCompile(`"\{\{(?:say|tell) "([^"]*)"`).FindAllStringSubmatch(source, -1) {
		add(m[1])
	}
	add(quoted()...)
	for _, p := range append(checker.Properties(), checker.Linearizability) {
		add(report.Label(p), p.Definition(), report.Label(p)+violated)
	}
	engines(t, add)
	for _, v := range []checker.Verdict{checker.Unknown, checker.Pass, checker.Fail, checker.NotApplicable, checker.Disagreement} {
		_, word := mood(v)
		add(word, v.String())
	}
	for _, a := range anomalies.All() {
		add(a.Name, a.Definition)
	}
	for _, backend := range []string{histories.BackendEmbedded, histories.BackendProcess, histories.BackendDocker, histories.BackendExternal} {
		add(histories.DescribeBackend(backend))
	}
	for _, c := range []locks.Class{
		{}, {NoLease: true}, {Quorum: true},
		{Renews: true, Fencing: true, Reenters: true, ReadWrite: true, Waits: true, Fair: true, Failover: true},
	} {
		add(strings.Split(c.String(), ", ")...)
	}
	for _, s := range scenarios.All() {
		for _, masters := range []int{1, 5} {
			top := cluster.Topology{Masters: masters, Replicas: s.Replicas, ClusterMode: s.ClusterMode}
			add(strings.Split(top.String(), ", ")...)
		}
	}
	add(strings.Split(cluster.Topology{Masters: 1, Replicas: 2, Sentinels: 3}.String(), ", ")...)
	add(histories.CommandHeld, histories.CommandLetGo, histories.CommandDropped, histories.ReplyHeld, histories.ReplyLetGo, histories.ReplyDropped)
	add(string(histories.PhaseRunning), string(histories.PhaseRecorded), string(histories.PhaseChecked))
	for _, err := range []error{locks.ErrTaken, locks.ErrNotHeld, locks.ErrRejected, resource.ErrStale, resource.ErrElapsed, resource.ErrDone} {
		add(err.Error())
	}
	// What is said by a variable: calls, what happens to clients, who acts, and what a picture has of them.
	for _, f := range []histories.F{
		histories.Acquire, histories.Release, histories.Extend, histories.Read, histories.Write, histories.Incr, histories.Draw, histories.Count,
		histories.Crash, histories.Lost, histories.Abandon, histories.Audit,
	} {
		add(string(f))
	}
	add(histories.WorkerName(histories.Nemesis), "script", "harness", "ok", "refused", "unknown")
	add("faults", story.Register, "belief", "held", "lease", "command", "its time to live ended")
	add("read and write", "other calls", " and ", ", ", "random load without faults")
	delete(said, "")
	for _, word := range quoted() {
		if !strings.Contains(style+script, strconv.Quote(word)) {
			t.Errorf("%q is no word of the style or the script", word)
		}
	}
	for _, in := range language.All()[1:] {
		has := maps.Clone(in.Texts())
		for _, s := range scenarios.All() { // package scenarios looks after their texts
			delete(has, s.Title)
			delete(has, s.Why)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(has))); diff != "" {
			t.Errorf("texts (-said +%s):\n%s", in.Name(), diff)
		}
		for english, text := range in.Texts() {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: the text of %q is empty", in.Name(), english)
			}
			if diff := cmp.Diff(verbs(english), verbs(text)); diff != "" {
				t.Errorf("%s: what %q puts in (-en +%[1]s):\n%s", in.Name(), english, diff)
			}
		}
	}
}

// engines finds by what judges judge, which stands in the file of each.
func engines(t *testing.T, add func(...string)) {
	t.Helper()
	files, err := filepath.Glob("../../../checker/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\s+engine: +"([^"]+)",$`).FindAllSubmatch(src, -1) {
			add(string(m[1]))
		}
	}
}

// literals finds the texts that the code of reports says, and the words of calls and lists that it says by a variable.
func literals(t *testing.T, add func(...string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			for i, arg := range call.Args {
				lit, ok := arg.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Error(err)
				}
				switch {
				case i == 0 && (name == "Say" || name == "Sayf" || name == "version" || name == "attempt" || name == "say"):
					add(text)
				case i == 0 && name == "add" && filepath.Base(path) == "page.go":
					add(text)
				case i == 1 && name == "Count" && !english(call):
					add("%d " + text + "s")
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// english reports whether a number is counted by package words, which knows no other language.
func english(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	room, ok := f.X.(*ast.Ident)
	return ok && room.Name == "words"
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?(?:\.\d)?([a-z%])`)

// verbs are what a format puts in, in the order of its arguments.
func verbs(format string) map[int]string {
	all := map[int]string{}
	for i, m := range verb.FindAllStringSubmatch(format, -1) {
		at := i + 1
		if m[1] != "" {
			at, _ = strconv.Atoi(m[1]) // it is a number
		}
		all[at] += m[2]
	}
	return all
}
