// Package house holds how the code is laid out.
package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is longer is hard to see at once.
const (
	longestFile = 350 // lines
	longestFunc = 60
)

// longer are the files and functions that may be longer, with the reason.
func longer() map[string]string {
	const list = "a list: each line is an entry"
	return map[string]string{
		"examples/golang/protocol.go":               "it is handed out as one file",
		"locks/list.go entries":                     list,
		"internal/schedule/list.go faultsOfNemesis": list,
	}
}

// public are the packages that others may import.
func public() []string {
	return []string{
		"checker", "docker", "docker/redis", "docs/schema", "examples", "examples/recording",
		"histories", "locks", "locktest", "nemesis", "scenarios", "workloads",
	}
}

const root = "../../.."

// sources are all Go files outside tests, by their paths in the repository.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	all := goFiles(t)
	maps.DeleteFunc(all, func(name string, _ []byte) bool { return strings.HasSuffix(name, "_test.go") })
	return all
}

// goFiles are all Go files, by their paths in the repository.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".git")):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(root, name)
		all[filepath.ToSlash(inside)] = source
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("found %d sources, want those of the whole repository", len(all))
	}
	return all
}

func TestLengths(t *testing.T) {
	may := longer()
	long := func(what string, lines, most int) {
		if lines <= most {
			return
		}
		if may[what] == "" {
			t.Errorf("%s has %d lines, want %d at most, or its reason in this test", what, lines, most)
		}
		delete(may, what)
	}
	for name, source := range sources(t) {
		long(name, bytes.Count(source, []byte("\n")), longestFile)
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				long(name+" "+fn.Name.Name, files.Position(fn.End()).Line-files.Position(fn.Pos()).Line+1, longestFunc)
			}
		}
	}
	for what := range may {
		t.Errorf("%s may be longer, and is not; take it from the list", what)
	}
}

func TestPublicPackages(t *testing.T) {
	found := make(map[string]bool)
	for name, source := range sources(t) {
		dir := path.Dir(name)
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name != "main" && !slices.Contains(strings.Split(dir, "/"), "internal") {
			found[dir] = true
		}
	}
	for _, dir := range public() {
		if !found[dir] {
			t.Errorf("%s is public, and there is no such package", dir)
		}
		delete(found, dir)
	}
	for dir := range found {
		t.Errorf("%s can be imported by anybody; should it be internal, or stand in the list of this test?", dir)
	}
}
