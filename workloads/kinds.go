package workloads

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/locks"
)

// A Kind is a random load that can be asked for by name.
type Kind struct {
	Name  string
	Title string
	// Lock is the name of a lock to put under it if none is asked for.
	Lock string
	// Serves says whether a lock can be put under it; nil means every lock.
	Serves func(locks.Spec) bool
	// Capability is what the others lack, and Can the word for it in the hello of a worker.
	Capability, Can string
	// New makes it.
	New func(Load) Workload
}

// Kinds lists every random load, the default first.
func Kinds() []Kind {
	return []Kind{
		{
			Name: "contend", Title: "N clients acquire, increment the protected register, release, with random think times",
			Lock: "setnx-px-lua",
			New:  func(l Load) Workload { return Contend{l} },
		},
		{
			Name: "increment", Title: "N clients increment a shared counter under the lock, which must show all increments at the end",
			Lock: "setnx-px-lua",
			New:  func(l Load) Workload { return Increment{l} },
		},
		{
			Name: "reentrant", Title: "N clients acquire a key several times, one inside the other, and release it as often",
			Lock: "reentrant-hash", Capability: "can be re-entered", Can: "reenter",
			Serves: func(s locks.Spec) bool { return s.Reenters },
			New:    func(l Load) Workload { return Reentrant{l} },
		},
		{
			Name: "readwrite", Title: "N clients, sometimes readers and sometimes writers: readers share, writers exclude",
			Lock: "rw-hash", Capability: "has readers and writers", Can: "share",
			Serves: func(s locks.Spec) bool { return s.ReadWrite },
			New:    func(l Load) Workload { return ReadWrite{l} },
		},
		{
			Name: "lottery", Title: "N clients try once in each round, as instances of a cron job: one wins, losers walk away",
			Lock: "setnx-px-lua",
			New:  func(l Load) Workload { return Lottery{l} },
		},
	}
}

// Find returns the random load of that name, or a *locks.UnknownError.
func Find(name string) (Kind, error) {
	var known []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return Kind{}, &locks.UnknownError{Kind: "workload", Name: name, Nearest: locks.Nearest(name, known), Known: known}
}

// Needs says why a lock cannot be put under the load, and what helps, or nil: which locks can or,
// of a worker's, what its hello lacks.
func (k Kind) Needs(lock locks.Spec) error {
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
