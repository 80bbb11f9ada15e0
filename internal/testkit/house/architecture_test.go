package house

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture compares the generated parts of docs/architecture.md with the imports. With -update it writes them.
func TestArchitecture(t *testing.T) {
	const file = root + "/docs/architecture.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := readBuilding(t)
	want := string(page)
	for name, text := range map[string]string{
		"public": b.public(), "rooms": b.rooms(), "doors": b.doors(), "floors": b.floors(),
	} {
		want = withPart(t, want, name, text)
	}
	asWritten(t, file, "make docs", want)
}

const module = "github.com/lockbench/lockbench/"

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Doc        string
	Imports    []string
	GoFiles    []string
	Module     struct{ Path string }
}

func (l listed) ours() bool { return strings.HasPrefix(l.ImportPath, module) }

// building is all packages that the module links, by import path.
type building map[string]listed

func readBuilding(t *testing.T) building {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Doc,Imports,GoFiles,Module", "./...")
	list.Dir, list.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0") // the same page everywhere
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	b := building{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		switch err := d.Decode(&l); {
		case errors.Is(err, io.EOF):
			return b
		case err != nil:
			t.Fatal(err)
		case len(l.GoFiles) > 0: // else it has tests alone
			b[l.ImportPath] = l
		}
	}
}

// own are the packages of the module, in the order of their paths.
func (b building) own() []listed {
	var own []listed
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if b[path].ours() {
			own = append(own, b[path])
		}
	}
	return own
}

// imports are the packages outside the standard library that one imports.
func (b building) imports(path string) []listed {
	var all []listed
	for _, name := range b[path].Imports {
		if l, ok := b[name]; ok && !l.Standard {
			all = append(all, l)
		}
	}
	return all
}

// linked are all packages outside the standard library and outside the module that a program with the package has in it.
func (b building) linked(path string) map[string]bool {
	all := map[string]bool{}
	seen := map[string]bool{}
	var visit func(string)
	visit = func(path string) {
		for _, l := range b.imports(path) {
			if seen[l.ImportPath] {
				continue
			}
			seen[l.ImportPath] = true
			if !l.ours() {
				all[l.ImportPath] = true
			}
			visit(l.ImportPath)
		}
	}
	visit(path)
	return all
}

// floor is 1 for a package that imports none of the module, and else one more than the highest that it imports.
func (b building) floor(path string) int {
	highest := 0
	for _, l := range b.imports(path) {
		if l.ours() {
			highest = max(highest, b.floor(l.ImportPath))
		}
	}
	return highest + 1
}

func inside(path string) string { return strings.TrimPrefix(path, module) }

func (b building) floors() string {
	own := b.own()
	slices.SortStableFunc(own, func(x, y listed) int { return cmp.Compare(b.floor(y.ImportPath), b.floor(x.ImportPath)) })
	var page strings.Builder
	above := 0
	for _, l := range own {
		if at := b.floor(l.ImportPath); at != above {
			fmt.Fprintf(&page, "\n### Floor %d\n\n| package | what it is | imports of ours | links of others |\n|---|---|---|---|\n", at)
			above = at
		}
		var below []string
		for _, i := range b.imports(l.ImportPath) {
			if i.ours() {
				below = append(below, "`"+inside(i.ImportPath)+"`")
			}
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %d |\n", inside(l.ImportPath), l.Doc, cmp.Or(strings.Join(below, ", "), "–"), len(b.linked(l.ImportPath)))
	}
	return page.String() + "\n"
}

// doors are the modules of others, each with the packages that import it themselves.
func (b building) doors() string {
	through := map[string][]string{}
	for _, l := range b.own() {
		for _, i := range b.imports(l.ImportPath) {
			name := "`" + inside(l.ImportPath) + "`"
			if at := through[i.Module.Path]; !i.ours() && !slices.Contains(at, name) {
				through[i.Module.Path] = append(at, name)
			}
		}
	}
	var page strings.Builder
	page.WriteString("\n| module of others | imported by |\n|---|---|\n")
	for _, path := range slices.Sorted(maps.Keys(through)) {
		fmt.Fprintf(&page, "| `%s` | %s |\n", path, strings.Join(through[path], ", "))
	}
	return page.String() + "\n"
}

func (b building) public() string {
	var page strings.Builder
	page.WriteString("\n| public package | what it is | links of others |\n|---|---|---|\n")
	for _, name := range public() {
		fmt.Fprintf(&page, "| `%s` | %s | %d |\n", name, b[module+name].Doc, len(b.linked(module+name)))
	}
	return page.String() + "\n"
}

// room is the directory at the top that a package stands in, or none if others cannot see it.
func room(path string) string {
	name := inside(path)
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "internal":
		return ""
	case "cmd":
		return "cmd/lockbench"
	case "docs":
		return name
	default:
		return first
	}
}

// rooms draws which rooms need which, without the arrows that follow from others. An arrow may lead through packages
// under internal.
func (b building) rooms() string {
	needs := map[string]map[string]bool{}
	for _, l := range b.own() {
		from := room(l.ImportPath)
		if from == "" {
			continue
		}
		if needs[from] == nil {
			needs[from] = map[string]bool{}
		}
		var visit func(string)
		visit = func(path string) {
			for _, i := range b.imports(path) {
				if to := room(i.ImportPath); i.ours() && to != from {
					if to != "" {
						needs[from][to] = true
					}
					visit(i.ImportPath)
				}
			}
		}
		visit(l.ImportPath)
	}
	var page strings.Builder
	page.WriteString("\n```mermaid\nflowchart TD\n")
	for _, from := range slices.Sorted(maps.Keys(needs)) {
		fmt.Fprintf(&page, "    %s[\"%s\"]\n", node(from), from)
	}
	for _, from := range slices.Sorted(maps.Keys(needs)) {
		for _, to := range slices.Sorted(maps.Keys(needs[from])) {
			follows := func(by string) bool { return by != to && needs[by][to] }
			if !slices.ContainsFunc(slices.Collect(maps.Keys(needs[from])), follows) {
				fmt.Fprintf(&page, "    %s --> %s\n", node(from), node(to))
			}
		}
	}
	return page.String() + "```\n\n"
}

func node(room string) string { return strings.ReplaceAll(room, "/", "_") }
