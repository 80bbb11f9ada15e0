// Package workloads is the random loads that can be put on a lock, one in a file of its own.
package workloads

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
)

// A Kind is a random load that can be asked for by name.
type Kind struct {
	Name  string
	Title string
	// Lock is the name of a lock to put under it if none is asked for.
	Lock string
	// Serves reports whether a lock can be put under it; nil means every lock.
	Serves func(locks.Spec) bool
	// Capability is what the others lack, and Can the word for it in the hello of a worker.
	Capability, Can string
	// Leases is how many TTLs it goes on if nobody says how long. 0: that is counted in rounds.
	Leases int
	// New makes it.
	New func(Load) player.Workload
}

// Find returns the random load of that name, or a *catalogue.UnknownError.
func Find(name string) (Kind, error) {
	return catalogue.Find("workload", name, Kinds(), func(k Kind) string { return k.Name })
}

// Unsupported returns why a lock cannot be put under the load, and what helps, or nil: which locks can or,
// of a worker's, what its hello lacks.
func (k Kind) Unsupported(lock locks.Spec) error {
	if k.Serves == nil || k.Serves(lock) {
		return nil
	}
	workers := lock.New == nil
	var able []string
	for _, s := range locks.All() {
		if k.Serves(s) {
			able = append(able, s.Name)
			workers = workers || s.Name == lock.Name // the lock would, and who speaks for it does not say so
		}
	}
	if workers {
		return fmt.Errorf("workload %s needs a lock that %s, and the worker does not say that its lock %s is one; if it is, %q has to be in the list %q of its hello (docs/worker-protocol.md)",
			k.Name, k.Capability, lock.Name, k.Can, "can")
	}
	return fmt.Errorf("workload %s needs a lock that %s, and %s does not; use one of %s", k.Name, k.Capability, lock.Name, strings.Join(able, ", "))
}
