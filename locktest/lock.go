package locktest

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// Lock is the lock under test, and what it promises. The zero value of each field but New promises
// the least: a lock is asked for what it promises and for nothing else.
//
// What it can do is seen from the lock itself: leases that are locks.Extender can be extended, those
// that are locks.Watched are renewed, a lock that is locks.Reentrant, locks.RWLocker, locks.Patient
// or locks.Notifier can be re-entered, shared, waited for, or tells its waiters. Leases whose Token is
// not 0 have fencing tokens.
type Lock struct {
	// New makes the lock of one client. It is called once for each client, and again when a client
	// that has crashed is replaced. A lock with a method Close() error is closed when the run ends.
	New func(World) (locks.Locker, error)
	// Name is what reports call it. Optional: lock.
	Name string
	// Masters is on how many independent masters it lies. Optional: 1.
	Masters int
	// Replicas is how many replicas of its first master the lock itself needs. Optional: none.
	Replicas int
	// Keys are the names under which the lock on key is kept on the servers. Optional: those are seen
	// that have key in them, or if there are none, key itself.
	Keys func(key string) []string
	// Database is that in which they are. Optional: 0.
	Database int
	// WholeSeconds says that the lock counts its leases in seconds: it is asked for no others.
	WholeSeconds bool
	// Promises are what its users may rely on beyond what its methods show.
	Promises locks.Promises

	known locks.Spec // of the catalogue, whose locks are no references of themselves
}

// defaultName is what a lock without a name is called.
const defaultName = "lock"

// spec is the lock as the harness takes it, without what is yet to be seen of it.
func (l Lock) spec() locks.Spec {
	s := l.known
	if s.Name == "" {
		s = locks.Spec{
			Name: l.Name, Masters: max(l.Masters, 1), Replicas: l.Replicas, Keys: l.Keys, Database: l.Database,
			WholeSeconds: l.WholeSeconds, Promises: l.Promises, Title: "the lock under test",
		}
		if s.Name == "" {
			s.Name = defaultName
		}
	}
	s.New = func(env locks.Env) locks.Locker {
		made, err := l.New(World{env})
		if err == nil && made == nil {
			err = fmt.Errorf("Lock.New returned no lock and no error")
		}
		if err != nil {
			return unmade{fmt.Errorf("Lock.New: %w", err)}
		}
		return made
	}
	return s
}

// unmade is a lock that could not be made.
type unmade struct{ err error }

func (u unmade) Acquire(context.Context, string, time.Duration) (locks.Lease, error) {
	return nil, u.err
}
