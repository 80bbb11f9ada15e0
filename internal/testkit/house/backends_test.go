package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// backendNames is the file that has the names of the backends.
const backendNames = "histories/backends.go"

// TestBackendNames checks that no code compares or lists backends by literals of its own.
func TestBackendNames(t *testing.T) {
	names := map[string]bool{}
	for i := range 2 {
		for name, source := range sources(t) {
			if (name == backendNames) != (i == 0) {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				ast.Inspect(d, func(n ast.Node) bool {
					text, ok := literal(n)
					switch {
					case ok && i == 0 && !strings.Contains(text, " "):
						names[text] = true
					case ok && names[text] && text != "process" && text != "docker": // which are words of their own
						t.Errorf("%s has %q; take it from %s, or ask the backend", name, text, backendNames)
					}
					return true
				})
			}
		}
	}
	if len(names) != 4 {
		t.Errorf("found the names %v in %s, want 4", names, backendNames)
	}
}

func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
