package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"testing"
)

// mostNames is how many functions and types the public packages may export. What is exported is promised to whoever
// imports it; whoever raises the number says in the commit what for.
const mostNames = 207

func TestSurface(t *testing.T) {
	names := 0
	for name, source := range sources(t) {
		if !slices.Contains(public(), path.Dir(name)) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					names++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() {
						names++
					}
				}
			}
		}
	}
	if names > mostNames || names < mostNames/2 {
		t.Errorf("the public packages export %d functions and types, want %d at most", names, mostNames)
	}
}
