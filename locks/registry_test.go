package locks_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

func TestRegistryIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range libraries.Catalogue() {
		if spec.Name == "" || seen[spec.Name] {
			t.Errorf("name %q is empty or used twice", spec.Name)
		}
		seen[spec.Name] = true
		if spec.Title == "" || spec.Source == "" || spec.New == nil || spec.Masters < 1 {
			t.Errorf("%s: incomplete: %+v", spec.Name, spec)
		}
		if spec.Sound != (spec.Assumption != "") {
			t.Errorf("%s: a sound lock states its assumption, and no other; got %q", spec.Name, spec.Assumption)
		}
	}
}

// TestEveryLockIsListed: whoever adds a lock with its Spec is told to list it.
func TestEveryLockIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	adapters, err := filepath.Glob("../internal/libraries/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, adapters...)
	entry := regexp.MustCompile(`(?m)^func (\w+)\(\) (?:locks\.)?Spec \{\n\treturn (?:locks\.)?Spec\{\n\t\tName: +"([^"]+)"`)
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range entry.FindAllStringSubmatch(string(source), -1) {
			found++
			if _, err := libraries.Catalogue().Find(m[2]); err != nil {
				t.Errorf("%s: %s is not listed; run: make lists", file, m[1])
			}
		}
	}
	if listed := len(libraries.Catalogue()); found != listed {
		t.Errorf("%d Specs stand in files, and %d are listed", found, listed)
	}
}

func TestFind(t *testing.T) {
	for _, spec := range locks.All() {
		if got, err := locks.All().Find(spec.Name); err != nil || got.Name != spec.Name {
			t.Errorf("Find(%q) = %q, %v", spec.Name, got.Name, err)
		}
	}
	for name, nearest := range map[string]string{
		"setnx-px-lau": "setnx-px-lua",
		"redlok":       "redlock",
		"":             "",
		"zookeeper":    "",
	} {
		_, err := locks.All().Find(name)
		var unknown *catalogue.UnknownError
		if !errors.As(err, &unknown) || unknown.Nearest != nearest || unknown.Kind != "lock" || len(unknown.Known) != len(locks.All()) {
			t.Errorf("Find(%q): %v; want an UnknownError with nearest %q and every name", name, err, nearest)
		}
	}
}

// Many names are a list's to tell.
func TestUnknownError(t *testing.T) {
	for n, want := range map[int]string{2: `no dog "cat"; known: dog0, dog1`, 50: `no dog "cat", and none of the 50 that there are is like it`} {
		e := &catalogue.UnknownError{Kind: "dog", Name: "cat"}
		for i := range n {
			e.Known = append(e.Known, fmt.Sprint("dog", i))
		}
		if got := e.Error(); got != want {
			t.Errorf("%d names: %s, want %s", n, got, want)
		}
	}
}

func ExampleFind() {
	_, err := locks.All().Find("setnx-px-lau")
	fmt.Println(err)
	// Output: no lock "setnx-px-lau"; did you mean setnx-px-lua?
}

// Every lock of the catalogue of pitfalls, section 1, in its order.
func TestEveryLockExists(t *testing.T) {
	want := []string{
		"exists-set", "setnx", "setnx-expire", "setnx-timestamp-del", "getset", "lua-setnx-expire",
		"setnx-px-del", "setnx-px-get-del", "setnx-px-watch", "setnx-px-get-watch", "setnx-px-lua",
		"lua-uuid-repaired", "set-options", "renew-naive", "watchdog", "reentrant-local", "reentrant-hash",
		"reentrant-hash-thread-id", "redisson-style", "rw-two-key", "rw-hash-timestamp", "rw-hash",
		"redlock", "redlock-no-validity", "redlock-partial-cleanup", "fenced", "setnx-px-wait",
		"redsync", "bsm-redislock", "rueidislock",
	}
	sound := []string{
		"setnx-px-watch", "setnx-px-lua", "lua-uuid-repaired", "set-options", "watchdog", "reentrant-hash",
		"redisson-style", "rw-hash", "redlock", "fenced",
	}
	var got []string
	for _, s := range libraries.Catalogue() {
		if slices.Contains(want, s.Name) {
			got = append(got, s.Name)
		}
		if slices.Contains(sound, s.Name) && !s.Sound {
			t.Errorf("%s is not sound", s.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("locks (-want +got):\n%s", diff)
	}
}
