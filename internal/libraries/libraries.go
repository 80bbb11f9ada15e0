// Package libraries holds the locks that are real libraries, or over the client of one: each is
// an adapter of the library itself, with its bugs. Nobody who uses the other locks needs the
// libraries' modules.
package libraries

import (
	"slices"
	"sync"

	"github.com/lockbench/lockbench/locks"
)

// Catalogue returns every lock, in the order of the catalogue: those of package locks, and those
// of this one. What a Spec points at is shared by all who call it, and not to be changed.
func Catalogue() locks.Catalogue { return slices.Clone(joined()) }

var joined = sync.OnceValue(join) //nolint:gochecknoglobals // nothing changes what a lock says of itself, and some ask for one lock after the other

func join() locks.Catalogue {
	all, added := locks.All(), All()
	// The first stands among the variants of setnx-px-watch, of which it is one; the others follow.
	misread := slices.IndexFunc(all, func(l locks.Spec) bool { return l.Name == "setnx-px-watch-misread" })
	return append(slices.Insert(all, misread, added[0]), added[1:]...)
}

// All returns the locks of this package. Several threads may use each of them, and each takes a
// second release.
func All() locks.Catalogue {
	all := entries()
	for i := range all {
		all[i].Promises.Threads, all[i].Promises.ReleasesTwice, all[i].Promises.Verifies = true, true, all[i].HasToken
	}
	return all
}
