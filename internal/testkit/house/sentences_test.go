package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

// others are the sentences that code may compare, by file and sentence: nobody here writes them, and whoever does offers nothing else to
// tell them by.
func others() map[string]string {
	const (
		client = "a client of Redis gives an error of the server as its text alone"
		engine = "the engine tells its refusals apart by their texts alone"
	)
	return map[string]string{
		"internal/redis/node/inspect.go: .Error()":                                 client,
		"internal/redis/external/connect.go: .Error()":                             client + ": its first word is the code",
		"internal/redis/docker/engine.go: .Error()":                                engine,
		"internal/redis/docker/engine.go: permission denied":                       "the system's refusal comes through the client of the engine as text",
		"internal/redis/docker/bridge.go: .Error()":                                engine,
		"internal/redis/process/server.go: Address already in use":                 "redis-server says so in its log alone",
		"internal/redis/process/clock.go: cannot be preloaded":                     "the dynamic linker says so on standard error alone",
		"internal/redis/embedded/redislib.go: ERR unknown command":                 "miniredis words it for clients, and scripts get other words",
		"internal/redis/embedded/redislib.go: ERR wrong number of arguments for '": "miniredis words it for clients, and scripts get other words",
		"internal/sim/stacks/stacks.go: created by ":                               "the runtime writes stacks as text",
		"internal/sim/stacks/stacks.go: synctest bubble ":                          "the runtime writes stacks as text",
		"internal/testkit/locktest/redis.go: Ready to accept connections":          "redis-server says so in its log alone",
		"histories/jsonl.go: .Error()":                                             "encoding/json has no type for it",
		"histories/jsonl.go: json: unknown field ":                                 "encoding/json has no type for it",
		"cmd/lockbench/root.go: .Error()":                                          "pflag has no other way to the name of the flag",
		"internal/libraries/redsync.go: .Error()":                                  "an order of errors, by whatever words",
	}
}

// TestSentences checks that nothing is decided by a sentence: by one of several words, or by the text of an error.
// What is told to people may be worded anew at any time.
func TestSentences(t *testing.T) {
	may, used := others(), map[string]bool{}
	for name, source := range sources(t) {
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range compared(f) {
			if may[name+": "+text] == "" {
				t.Errorf("%s compares %q; go by a field, by an error or by a name, or put the reason into this test", name, text)
			}
			used[name+": "+text] = true
		}
	}
	for what := range may {
		if !used[what] {
			t.Errorf("%s may be compared, and is not; take it from the list", what)
		}
	}
}

// compared are the sentences in a file that something is compared with.
func compared(f *ast.File) []string {
	var found []string
	look := func(operands ...ast.Expr) {
		for _, o := range operands {
			if text, ok := sentence(o); ok {
				found = append(found, text)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if comparison(n.Fun) {
				look(n.Args...)
				found = append(found, searched(n.Args)...)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				look(n.X, n.Y)
			}
		case *ast.SwitchStmt:
			look(n.Tag)
		case *ast.CaseClause:
			look(n.List...)
		}
		return true
	})
	return found
}

// comparison returns whether a function compares strings.
func comparison(f ast.Expr) bool {
	sel, ok := f.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := sel.X.(*ast.Ident)
	return ok && from.Name == "strings" && slices.Contains([]string{
		"Compare", "Contains", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "HasPrefix", "HasSuffix", "Index", "LastIndex",
	}, sel.Sel.Name)
}

// prose are the fields that are written for people.
func prose() []string {
	return []string{"Err", "Found", "Notes", "Plan", "Story", "Text", "Title", "Value", "Want"}
}

// searched are the words that are looked for in a field for people.
func searched(args []ast.Expr) []string {
	inProse := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		return ok && slices.Contains(prose(), sel.Sel.Name)
	}
	if !slices.ContainsFunc(args, inProse) {
		return nil
	}
	var found []string
	for _, a := range args {
		if text, ok := literal(a); ok && word.MatchString(text) && !words.MatchString(text) {
			found = append(found, text)
		}
	}
	return found
}

var word = regexp.MustCompile(`[a-z]{2}`)

// words has a sentence or a part of one. Commands of Redis and codes of its errors have no small letters.
var words = regexp.MustCompile(`[a-z]{2}.* | .*[a-z]{2}`)

// sentence is the text of an expression with several words, or ".Error()" for the text of an error.
func sentence(e ast.Expr) (string, bool) {
	if text, ok := literal(e); ok {
		return text, words.MatchString(text)
	}
	if call, ok := e.(*ast.CallExpr); ok {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Error" && len(call.Args) == 0 {
			return ".Error()", true
		}
	}
	return "", false
}

// TestCompared checks what counts as comparing a sentence.
func TestCompared(t *testing.T) {
	for code, want := range map[string]int{
		`strings.Contains(e.Value, "simulated")`:              1,
		`strings.Contains(e.Err, errStale.Error())`:           1,
		`strings.HasPrefix(end, "gone since ")`:               1,
		`text == "the server died"`:                           1,
		`func() { switch text { case "it is gone": } }`:       1,
		`strings.EqualFold(text, "Address already in use")`:   1,
		`strings.HasPrefix(name, "restart")`:                  0,
		`strings.HasPrefix(reply, "NOSCRIPT ")`:               0,
		`strings.HasPrefix(e.Value, start)`:                   0,
		`lock == "setnx-px-lua"`:                              0,
		`fmt.Sprintf("%s is gone, and was", name)`:            0,
		`slices.Contains(told, "it is told what was not so")`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nvar _ = "+code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := compared(f); len(got) != want {
			t.Errorf("%s: found %q, want %d", code, got, want)
		}
	}
}
