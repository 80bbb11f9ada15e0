package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/locks"
)

// Guard decides how a critical section protects the register. The zero value
// protects nothing.
type Guard uint8

// The guards.
const (
	None       Guard = iota // read and write, trusting the lock
	CheckToken              // ask the lock whether it is still held before writing (article A 2.2, 2.4)
	Fence                   // every access carries the fencing token; the register refuses stale ones (Kleppmann 2016)
)

// Guards lists every guard.
func Guards() []Guard { return []Guard{None, CheckToken, Fence} }

// String is the guard's name.
func (g Guard) String() string {
	switch g {
	case None:
		return "none"
	case CheckToken:
		return "check-token"
	case Fence:
		return "fence"
	}
	return fmt.Sprintf("guard(%d)", uint8(g))
}

// Supports says why the guard cannot be used with a lock, or nil.
func (g Guard) Supports(spec locks.Spec) error {
	if g == Fence && !spec.Fencing {
		return fmt.Errorf("guard fence needs a lock that issues fencing tokens; %s issues none (lockbench list locks)", spec.Name)
	}
	return nil
}

// Read reads the register inside the section that lease opened.
func (g Guard) Read(ctx context.Context, r *Register, lease locks.Lease) (State, error) {
	return r.Read(ctx, g.token(lease))
}

// Write writes the register inside the section that lease opened. ErrStale and
// locks.ErrNotHeld mean that the guard refused and nothing was written.
func (g Guard) Write(ctx context.Context, r *Register, lease locks.Lease, value int64) (State, error) {
	if g == CheckToken {
		v, ok := lease.(locks.Verifier)
		if !ok {
			return State{}, errors.New("guard check-token: the lease has no way to ask whether it is still held")
		}
		if err := v.Verify(ctx); err != nil {
			return State{}, err
		}
	}
	return r.Write(ctx, value, g.token(lease))
}

func (g Guard) token(lease locks.Lease) int64 {
	if g == Fence {
		return lease.Token()
	}
	return 0
}
