package locks

import (
	"context"
	"time"
)

func deadlineLateSpec() Spec {
	return Spec{
		Name:     "deadline-late",
		Title:    "setnx-px-lua whose leases count from the answer",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newDeadlineLate,
	}
}

// newDeadlineLate returns the lock deadline-late, whose leases count from the answer.
//
//	acquire, release  as setnx-px-lua
//
// It is setnx-px-lua whose client looks at its clock when it has the answer, where the server
// has been counting since it set the key. P23 is the same on several masters.
//
// Broken: a holder whose answer was slow is told of a lease that ends later than its key, or
// has ended (P75).
func newDeadlineLate(env Env) Locker { return &deadlineLate{newSetNXPX(env, compareAndDelete)} }

type deadlineLate struct{ *single }

func (l *deadlineLate) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	lease, err := l.single.Acquire(ctx, key, ttl)
	if held, ok := lease.(*singleLease); ok {
		held.deadline = held.from(ttl)
	}
	return lease, err
}
