package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// A list is a function that returns every entry of a catalogue. It has a file of its own, which is generated: an entry is a function
// without arguments that returns an Entry, in whatever file of the directory.
type list struct {
	dir, file   string
	doc         string // what the function returns, beginning with its name
	name, slice string // of the function, and the type that it returns
	entry       string // the type of an entry, as written in the directory
	imports     string
}

func lists() []list {
	return []list{
		{
			dir: "locks", file: "list.go", name: "entries", slice: "Catalogue", entry: "Spec",
			doc: "entries is every lock of this package",
		},
		{
			dir: "internal/libraries", file: "list.go", name: "entries", slice: "locks.Catalogue", entry: "locks.Spec",
			doc: "entries is every lock of this package", imports: `import "github.com/lockbench/lockbench/locks"`,
		},
		{
			dir: "nemesis", file: "list.go", name: "All", slice: "[]Kind", entry: "Kind",
			doc: "All lists every kind, also those that schedules alone can begin",
		},
		{
			dir: "workloads", file: "list.go", name: "Kinds", slice: "[]Kind", entry: "Kind",
			doc: "Kinds lists every random load, the default first",
		},
		{
			dir: "checker", file: "list.go", name: "allSpecs", slice: "[]spec", entry: "spec",
			doc: "allSpecs are all properties with their judges, in the order of reports",
		},
	}
}

// TestLists checks that every entry of a catalogue is listed. With -update it lists them: those that are listed keep their places,
// and new ones come last.
func TestLists(t *testing.T) {
	for _, l := range lists() {
		file := path.Join(root, l.dir, l.file)
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := l.text(t, l.order(l.listed(t, written), l.entries(t)))
		asWritten(t, file, "make lists", want)
	}
}

// entries are the functions that make entries, by their names.
func (l list) entries(t *testing.T) []string {
	t.Helper()
	var found []string
	for name, source := range sources(t) {
		if path.Dir(name) != l.dir {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && len(fn.Type.Params.List) == 0 && fn.Type.Results.NumFields() == 1 && spelled(fn.Type.Results.List[0].Type) == l.entry {
				found = append(found, fn.Name.Name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// spelled is a type as it is written, of one or two names.
func spelled(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return spelled(e.X) + "." + e.Sel.Name
	}
	return ""
}

// listed are the functions that the file calls.
func (l list) listed(t *testing.T, source []byte) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), l.file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			names = append(names, spelled(call.Fun))
		}
		return true
	})
	return names
}

// order has all of found, those that are listed first and in their places.
func (l list) order(listed, found []string) []string {
	kept := slices.DeleteFunc(listed, func(name string) bool { return !slices.Contains(found, name) })
	added := slices.DeleteFunc(found, func(name string) bool { return slices.Contains(kept, name) })
	return append(kept, added...)
}

func (l list) text(t *testing.T, names []string) string {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Written by make lists from the files beside it. The order of the lines may be changed; it is kept.\n\npackage %s\n\n%s\n\n", path.Base(l.dir), l.imports)
	fmt.Fprintf(&b, "// %s.\nfunc %s() %s {\n\treturn %s{\n", l.doc, l.name, l.slice, l.slice)
	for _, name := range names {
		fmt.Fprintf(&b, "\t\t%s(),\n", name)
	}
	b.WriteString("\t}\n}\n")
	text, err := format.Source([]byte(strings.ReplaceAll(b.String(), "\n\n\n\n", "\n\n")))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
