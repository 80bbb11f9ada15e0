package embedded

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// libraries are libraries of functions, by name. A value is never changed.
type libraries map[string]functionLibrary

// functionLibrary is what FUNCTION LOAD loads.
type functionLibrary struct {
	code  string
	names []string // of its functions, in small letters
}

// functionStore is the libraries that one server has. The zero value is none.
type functionStore struct {
	mu  sync.Mutex
	has libraries
}

func (f *functionStore) all() libraries {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.has
}

func (f *functionStore) set(all libraries) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has = all
}

// find returns the code of the library that has a function, whose name may be in any letters.
func (f *functionStore) find(function string) (code string, ok bool) {
	for _, lib := range f.all() { // at most one has it
		if slices.Contains(lib.names, strings.ToLower(function)) {
			return lib.code, true
		}
	}
	return "", false
}

// add says in Redis' words why a library cannot be added, or nothing if it was.
func (f *functionStore) add(name string, lib functionLibrary, replace bool) (refusal string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for other, has := range f.has {
		if other == name {
			continue // it is replaced
		}
		for _, function := range lib.names {
			if slices.Contains(has.names, function) {
				return "ERR Function " + function + " already exists"
			}
		}
	}
	if _, there := f.has[name]; there && !replace {
		return "ERR Library '" + name + "' already exists"
	}
	more := libraries{name: lib}
	for other, has := range f.has {
		if other != name {
			more[other] = has
		}
	}
	f.has = more
	return ""
}

// remove reports whether there was such a library.
func (f *functionStore) remove(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, there := f.has[name]; !there {
		return false
	}
	fewer := maps.Clone(f.has)
	delete(fewer, name)
	f.has = fewer
	return true
}

// header reads the first line of a library, such as "#!lua name=locks", and says in Redis' words
// what is wrong with it.
func header(code string) (name, refusal string) {
	line, _, _ := strings.Cut(code, "\n")
	if !strings.HasPrefix(line, "#!") || line == code {
		if strings.HasPrefix(line, "#!") {
			return "", "ERR Invalid library metadata"
		}
		return "", "ERR Missing library metadata"
	}
	words := strings.Fields(line[len("#!"):])
	if len(words) == 0 || !strings.EqualFold(words[0], "lua") {
		return "", "ERR Engine '" + strings.Join(words[:min(1, len(words))], "") + "' not found"
	}
	given := false
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case !strings.EqualFold(key, "name"):
			return "", "ERR Invalid metadata value given: " + word
		case given:
			return "", "ERR Invalid metadata value, name argument was given multiple times"
		}
		name, given = value, true
	}
	switch {
	case !given:
		return "", "ERR Library name was not given"
	case !isName(name):
		return "", "ERR " + badName
	}
	return name, ""
}

const badName = "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"

// isName reports whether a library or a function may be called so.
func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
