package locktest

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// of is a lock of the catalogue under test.
func of(spec locks.Spec) Lock {
	return Lock{known: spec, New: func(w World) (locks.Locker, error) { return spec.New(w.Env()), nil }}
}

// whole are sound locks, one of most classes, that go through every scenario as a user's lock does. The matrix puts all locks through all.
func whole() []string {
	return []string{"setnx-px-lua", "setnx-px-watch", "fenced", "watchdog", "redlock", "rw-hash", "redisson-style"}
}

// TestCatalogue: sound locks of the catalogue pass, and broken ones break the clauses of the contract that their Spec says, and no others.
func TestCatalogue(t *testing.T) {
	played, all := 0, libraries.Catalogue()
	entirely, some := effort.Part(whole(), 7), effort.Part(all, 8)
	for _, spec := range all {
		entire := slices.Contains(entirely, spec.Name)
		if !entire && !slices.ContainsFunc(some, func(s locks.Spec) bool { return s.Name == spec.Name }) {
			continue
		}
		o := options{seed: 1, accepted: map[string]string{}, among: all}
		o.backend = asked(t)
		for clause, why := range spec.Breaks {
			o.accepted[contractName+"/"+nameOf(clause)] = why
		}
		t.Run(spec.Name, func(t *testing.T) {
			if entire {
				played++
				Run(t, of(spec), func(o *options) { o.among = all })
				return
			}
			newTest(t, of(spec), o).contract(t)
		})
	}
	if played != len(entirely) {
		t.Errorf("%d locks were played whole, want %d: a name is wrong", played, len(entirely))
	}
}
