package locktest

import (
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// of is a lock of the catalogue under test.
func of(spec locks.Spec) Lock {
	return Lock{known: spec, New: func(w World) (locks.Locker, error) { return spec.New(w.Env()), nil }}
}

// whole are sound locks, one of most classes, that go through every scenario as a user's lock does. The matrix puts all locks through all.
func whole() map[string]bool {
	return map[string]bool{
		"setnx-px-lua": true, "setnx-px-watch": true, "fenced": true, "watchdog": true, "redlock": true, "rw-hash": true, "redisson-style": true,
	}
}

// TestCatalogue: sound locks of the catalogue pass, and broken ones break the clauses of the contract that their Spec says, and no others.
func TestCatalogue(t *testing.T) {
	played := 0
	for _, spec := range libraries.Catalogue() {
		o := options{seed: 1, accepted: map[string]string{}, among: libraries.Catalogue()}
		o.backend = asked(t)
		for clause, why := range spec.Breaks {
			o.accepted[contractName+"/"+nameOf(clause)] = why
		}
		t.Run(spec.Name, func(t *testing.T) {
			if whole()[spec.Name] {
				played++
				Run(t, of(spec), func(o *options) { o.among = libraries.Catalogue() })
				return
			}
			newTest(t, of(spec), o).contract(t)
		})
	}
	if played != len(whole()) {
		t.Errorf("%d locks were played whole, want %d: a name is wrong", played, len(whole()))
	}
}
