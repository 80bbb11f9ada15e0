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
	// Threads says that several threads of a process may use the lock at once.
	Threads bool
	// ReleasesTwice says that a lease that was released may be released once more: the lock then
	// says whether it was held.
	ReleasesTwice bool
	// ReleasesRefused says that a refused Acquire is a *RefusedError, with what its caller could
	// release.
	ReleasesRefused bool
	// Verifies says that a holder can ask whether a lease is still its own: leases are Verifiers.
	Verifies bool
	// WithoutTTL says that the lock may be acquired without a TTL: it is a Defaulter.
	WithoutTTL bool
	// DefaultTTL is for how long a lease lasts that was acquired so. 0: it has no end.
	DefaultTTL time.Duration
	// ExtendAdds says that extending a lease by d adds d to what is left of it. Otherwise the
	// lease lasts for d from then on.
	ExtendAdds bool
	// SilentRelease says that a release that succeeds does not say whose lock it was: it means
	// no more than that the caller holds nothing now.
	SilentRelease bool
	// Failover says that a lock that was granted outlives the loss of its server, as a replica
	// that knows it takes over. Locks on a majority of masters promise it in any case.
	Failover bool
	// PowerLoss says that a lock that was granted outlives a loss of power of its server, which comes
	// back with what was on its disk.
	PowerLoss bool
	// Once says that a request that is sent again, because its reply was lost, counts once.
	Once bool
	// NeverShortens says that a re-entry never makes the lease end earlier.
	NeverShortens bool
	// Renews says that leases are renewed until they are released, also if the lock has no way to
	// tell its holder of a loss (Spec.Renews).
	Renews bool
	// BoundedHold says that a lease that is renewed ends at some time, also if its holder hangs.
	BoundedHold bool
	// Endless says that a call lasts until the server answers, whatever deadline its caller has: the
	// lock's client has no time-out, or callers have no say in it.
	Endless bool
}

// A Promise is one of Promises that the steps of a scenario may put to the test, in words that
// fit after "the lock does not promise that".
type Promise string

// The promises that locks of one class make or do not make.
const (
	CountsOnce    Promise = "a request that is sent again counts once"
	NeverShortens Promise = "a re-entry never shortens the lease"
	BoundedHold   Promise = "a lease that is renewed ends at some time, also if its holder hangs"
	DefaultEnds   Promise = "a lease that is acquired without a TTL ends by itself"
)

// Keeps reports whether the lock promises p, or has nothing that p could be about. It promises the
// empty Promise.
func (s Spec) Keeps(p Promise) bool {
	switch p {
	case CountsOnce:
		return !s.Reenters || s.Promises.Once
	case NeverShortens:
		return !s.Reenters || s.Promises.NeverShortens
	case DefaultEnds:
		return !s.Promises.WithoutTTL || s.Promises.DefaultTTL > 0
	case BoundedHold:
		return !s.Class().Renews || s.Promises.BoundedHold
	}
	return p == ""
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
	Failover  bool
	PowerLoss bool
}

// Class returns the class of the lock.
func (s Spec) Class() Class {
	return Class{
		Quorum:    s.Masters > 1,
		NoLease:   s.Promises.NoLease,
		Renews:    s.Renews || s.Promises.Renews,
		Fencing:   s.Fencing,
		Reenters:  s.Reenters,
		ReadWrite: s.ReadWrite,
		Waits:     s.Waits,
		Fair:      s.Promises.Fair,
		Failover:  s.Promises.Failover || s.Masters > 1,
		PowerLoss: s.Promises.PowerLoss,
	}
}

// Within reports whether a lock of class c promises nothing that one of class d does not, on as
// many masters: what it keeps, the other one must keep, too.
func (c Class) Within(d Class) bool {
	if c.Quorum != d.Quorum || c.NoLease != d.NoLease {
		return false
	}
	more := false
	for _, p := range []struct{ c, d bool }{
		{c.Renews, d.Renews}, {c.Fencing, d.Fencing}, {c.Reenters, d.Reenters}, {c.ReadWrite, d.ReadWrite},
		{c.Waits, d.Waits}, {c.Fair, d.Fair}, {c.Failover, d.Failover}, {c.PowerLoss, d.PowerLoss},
	} {
		more = more || p.c && !p.d
	}
	return !more
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
		{c.Failover && !c.Quorum, "survives failover"},
		{c.PowerLoss, "survives loss of power"},
	} {
		if p.has {
			words = append(words, p.word)
		}
	}
	return strings.Join(words, ", ")
}
