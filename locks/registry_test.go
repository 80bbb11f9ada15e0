package locks_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/locks"
)

func TestRegistryIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range locks.All() {
		if spec.Name == "" || seen[spec.Name] {
			t.Errorf("name %q is empty or used twice", spec.Name)
		}
		seen[spec.Name] = true
		if spec.Title == "" || spec.Source == "" || spec.New == nil || spec.Masters < 1 {
			t.Errorf("%s: incomplete: %+v", spec.Name, spec)
		}
		if spec.Sound != (spec.Assumption != "") || spec.Sound == (spec.Flaw != "") {
			t.Errorf("%s: a sound lock states its assumption, a broken one its flaw; got %q and %q",
				spec.Name, spec.Assumption, spec.Flaw)
		}
	}
}

func TestFind(t *testing.T) {
	for _, spec := range locks.All() {
		if got, err := locks.Find(spec.Name); err != nil || got.Name != spec.Name {
			t.Errorf("Find(%q) = %q, %v", spec.Name, got.Name, err)
		}
	}
	for name, nearest := range map[string]string{
		"setnx-px-lau": "setnx-px-lua",
		"redlok":       "redlock",
		"":             "",
		"zookeeper":    "",
	} {
		_, err := locks.Find(name)
		var unknown *locks.UnknownError
		if !errors.As(err, &unknown) || unknown.Nearest != nearest || unknown.Kind != "lock" || len(unknown.Known) != len(locks.All()) {
			t.Errorf("Find(%q): %v; want an UnknownError with nearest %q and every name", name, err, nearest)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		known []string
		want  string
	}{
		{"cat", nil, ""},
		{"cat", []string{"cat"}, "cat"},
		{"cat", []string{"cart", "bat", "dog"}, "cart"}, // the first of equals
		{"cat", []string{"dog"}, ""},
		{"kitten", []string{"sitting"}, "sitting"}, // 3 edits of 7
		{"ab", []string{"cd"}, ""},
		{"", []string{"a"}, ""},
	} {
		if got := locks.Nearest(tt.name, tt.known); got != tt.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", tt.name, tt.known, got, tt.want)
		}
	}
}

// Many names are a list's to tell.
func TestUnknownError(t *testing.T) {
	for n, want := range map[int]string{2: `no dog "cat"; known: dog0, dog1`, 50: `no dog "cat", and none of the 50 that there are is like it`} {
		e := &locks.UnknownError{Kind: "dog", Name: "cat"}
		for i := range n {
			e.Known = append(e.Known, fmt.Sprint("dog", i))
		}
		if got := e.Error(); got != want {
			t.Errorf("%d names: %s, want %s", n, got, want)
		}
	}
}

func ExampleFind() {
	_, err := locks.Find("setnx-px-lau")
	fmt.Println(err)
	// Output: no lock "setnx-px-lau"; did you mean setnx-px-lua?
}
