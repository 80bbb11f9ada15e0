package locks

import (
	"strings"
	"time"
)

// Promises are what the users of a lock may rely on beyond what every lock must keep. A lock
// is asked for what it promises and for nothing else. The zero value promises the least.
type Promises struct {
	// NoLease says that the lock ignores the TTL it is asked for: what it grants lasts until it
	// is released.
	NoLease bool
	// Tolerance is by how much longer than the TTL that was asked for a key may live, for
	// example because the lock rounds up to whole seconds.
	Tolerance time.Duration
	// Poll is the shortest interval between two tries of one waiting client. 0 means that
	// nothing is promised, and the general bound of the property load holds.
	Poll time.Duration
	// Fair says that waiting clients are served in the order in which they asked.
	Fair bool
	// Threads says that several threads of a process may use one lock object.
	Threads bool
	// ExtendAdds says that extending a lease by d adds d to what is left of it. Otherwise the
	// lease lasts for d from then on.
	ExtendAdds bool
	// SilentRelease says that a release that succeeds does not say whose lock it was: it means
	// no more than that the caller holds nothing now.
	SilentRelease bool
}

// Class is what a lock promises, as far as it decides what can be asked of it under faults. A
// finding is a lock's own fault if another lock of its class keeps what it breaks under the
// same steps.
type Class struct {
	Quorum    bool // kept by a majority of independent masters
	NoLease   bool
	Renews    bool
	Fencing   bool
	Reenters  bool
	ReadWrite bool
	Waits     bool
	Fair      bool
}

// Class returns the class of the lock.
func (s Spec) Class() Class {
	return Class{
		Quorum:    s.Masters > 1,
		NoLease:   s.Promises.NoLease,
		Renews:    s.Renews,
		Fencing:   s.Fencing,
		Reenters:  s.Reenters,
		ReadWrite: s.ReadWrite,
		Waits:     s.Waits,
		Fair:      s.Promises.Fair,
	}
}

// String returns the class in words, for example "one master, lease, re-entrant".
func (c Class) String() string {
	words := []string{"one master"}
	if c.Quorum {
		words[0] = "a majority of masters"
	}
	if c.NoLease {
		words = append(words, "no lease")
	} else {
		words = append(words, "lease")
	}
	for _, p := range []struct {
		has  bool
		word string
	}{
		{c.Renews, "renewed"},
		{c.Fencing, "fencing tokens"},
		{c.Reenters, "re-entrant"},
		{c.ReadWrite, "readers and writers"},
		{c.Waits, "waits"},
		{c.Fair, "fair"},
	} {
		if p.has {
			words = append(words, p.word)
		}
	}
	return strings.Join(words, ", ")
}
