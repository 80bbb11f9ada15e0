package locks

import (
	"slices"
	"sync"

	"github.com/lockbench/lockbench/internal/catalogue"
)

// Spec describes one lock of the catalogue.
type Spec struct {
	Name   string
	Title  string // one line for people
	Source string // article letter and section
	Sound  bool
	// Assumption is what a sound lock needs in order to be sound.
	Assumption string
	// Breaks are the clauses of the contract of locks that a broken lock must fail, with the reasons.
	Breaks map[string]string
	// Masters is the number of independent masters: 1, or 5 for Redlock.
	Masters int
	// Replicas is the number of replicas that the lock itself needs, of the first master.
	Replicas int
	// Variant names the lock whose source this one shares, if it is a variant or a mutant.
	Variant string
	// Extends, Renews, Reenters and ReadWrite say that leases are Extenders, that they are
	// Watched, and that the lock is Reentrant or an RWLocker.
	Extends, Renews, Reenters, ReadWrite bool
	// Notifies says that the lock is a Notifier, Waits that it is Patient.
	Notifies, Waits bool
	// PerProcess says that one lock serves all threads of its process, and has in it what
	// they share: a pool of connections, or the one connection. Env.Rand must then be safe for
	// concurrent use. Else each thread has a lock, and they share the clients in Env.Nodes.
	PerProcess bool
	// Fencing says that leases carry fencing tokens.
	Fencing bool
	// HasToken says that the key holds a token unique to the attempt. Leases are
	// Verifiers then.
	HasToken bool
	// WholeSeconds says that the lock's commands count its TTL in seconds. A sound lock
	// refuses any other TTL with an *InputError, a broken one does what its source does.
	WholeSeconds bool
	// Keys are the names under which the lock on key is kept. Nil means key alone.
	Keys func(key string) []string
	// Database is that in which they are.
	Database int
	// Guards are those that the lock's worker knows, by name. Nil means all; see resource.Guard.
	Guards []string
	// ClientName is what the lock's users call their clients, for Env.Client: 0 is the
	// first. Nil means that they use UUIDs.
	ClientName func(client int) string
	// Unseeded says what the lock takes from the machine, so that a run of the same seed
	// may differ. Empty means nothing.
	Unseeded string
	// AOF says that the lock's servers must keep an append-only file.
	AOF bool
	// Commands are those that the lock needs of its servers and that not every one has.
	Commands []Command
	// Promises are what the lock says that it keeps, beyond what its capabilities show.
	Promises Promises
	// New makes the lock for one client. Env must have Masters nodes, a clock and a
	// source of random bytes. A lock that is a Connector must be closed. Nil: only the lock's
	// worker can make it.
	New func(Env) Locker
}

// Catalogue is a list of locks, whose names differ.
type Catalogue []Spec

// Find returns the lock of that name, or a *catalogue.UnknownError.
func (c Catalogue) Find(name string) (Spec, error) {
	return catalogue.Find("lock", name, c, func(s Spec) string { return s.Name })
}

// All returns every lock of this package, in the order of the catalogue. Several threads may use
// each of them, and each takes a second release. What a Spec points at is shared by all who call it, and not to be changed.
func All() Catalogue { return slices.Clone(made()) }

var made = sync.OnceValue(makeAll) //nolint:gochecknoglobals // nothing changes what a lock says of itself, and some ask for one lock after the other

func makeAll() Catalogue {
	all := entries()
	for i := range all {
		all[i].Promises.Threads, all[i].Promises.ReleasesTwice, all[i].Promises.Verifies = true, true, all[i].HasToken
	}
	return all
}
