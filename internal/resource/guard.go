package resource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/locks"
)

// ErrElapsed says that guard elapsed refused a write: by the client's own clock the lease
// has ended.
var ErrElapsed = errors.New("the lease has ended by the client's clock")

// ErrDone says that guard done-marker refused a write: what it was to bring about has been
// done.
var ErrDone = errors.New("it has been done already")

// Guard decides how a critical section protects the register. The zero value
// protects nothing.
type Guard uint8

// The guards.
const (
	// None reads and writes, trusting the lock.
	None Guard = iota
	// Elapsed compares the client's clock with the lease before a write. Article A 2.2
	// does not recommend it: a slow clock, or a pause after the comparison, defeats it (P12).
	Elapsed
	// CheckToken asks the lock whether it is still held before a write (A 2.2, 2.4). A pause
	// after the answer defeats it (P13).
	CheckToken
	// Fence sends the lock's fencing token with every access, and the register refuses a
	// token lower than the highest it has seen (Kleppmann 2016).
	Fence
	// Epoch is Fence with a token that the register itself issues when a section begins:
	// for locks that issue none, and where the lock's counter can be lost (P16).
	Epoch
	// DoneMarker takes the register's value for the number of the last round of a job that was
	// run, as the section read it, and refuses to write a number that is not higher: the job
	// is not run again by who gets the lock after it (P49). It trusts the lock.
	DoneMarker
)

// Guards lists every guard.
func Guards() []Guard { return []Guard{None, Elapsed, CheckToken, Fence, Epoch, DoneMarker} }

// FindGuard returns the guard of that name, or a *catalogue.UnknownError.
func FindGuard(name string) (Guard, error) {
	return catalogue.Find("guard", name, Guards(), Guard.String)
}

// String is the guard's name.
func (g Guard) String() string {
	switch g {
	case None:
		return "none"
	case Elapsed:
		return "elapsed"
	case CheckToken:
		return "check-token"
	case Fence:
		return "fence"
	case Epoch:
		return "epoch"
	case DoneMarker:
		return "done-marker"
	}
	return fmt.Sprintf("guard(%d)", uint8(g))
}

// Title says in a few words what the guard does.
func (g Guard) Title() string {
	switch g {
	case None:
		return "trust the lock"
	case Elapsed:
		return "before a write, compare the client's clock with the end of the lease"
	case CheckToken:
		return "before a write, ask the lock's server whether the lease is still held"
	case Fence:
		return "every access carries the lock's fencing token; the register refuses old ones"
	case Epoch:
		return "as fence, with a token that the register issues when the section begins"
	case DoneMarker:
		return "before a write, compare it with what the section has read: what has been done is not done again"
	}
	return ""
}

// Supports returns why the guard cannot be used with a lock, or nil.
func (g Guard) Supports(spec locks.Spec) error {
	switch {
	case spec.Guards != nil && !slices.Contains(spec.Guards, g.String()):
		return fmt.Errorf("guard %s needs a worker that knows it; that of %s knows %s", g, spec.Name, strings.Join(spec.Guards, ", "))
	case g == Fence && !spec.Fencing:
		return fmt.Errorf("guard fence needs a lock that issues fencing tokens; %s issues none (lockbench list locks)", spec.Name)
	case g == CheckToken && !spec.HasToken:
		return fmt.Errorf("guard check-token needs a lock whose key holds a token of the attempt; that of %s does not (lockbench list locks)", spec.Name)
	}
	return nil
}

// Section is one critical section: what its holder does with the register under a lease.
// It is not safe for concurrent use.
type Section struct {
	guard    Guard
	register *Register
	lease    locks.Lease
	clock    locks.Clock
	epoch    int64
	done     *int64 // of guard done-marker: the value that the section read last; nil: none yet
}

// Enter begins a section. It sends nothing.
func (g Guard) Enter(r *Register, lease locks.Lease, clock locks.Clock) *Section {
	return &Section{guard: g, register: r, lease: lease, clock: clock}
}

// Token is the token that the section's accesses carry, or would carry if the guard
// sent it; 0 if there is none yet.
func (s *Section) Token() int64 {
	if s.guard == Epoch {
		return s.epoch
	}
	return s.lease.Token()
}

// Read reads the register. ErrStale means that the register refused.
func (s *Section) Read(ctx context.Context) (State, error) {
	if s.guard == Epoch && s.epoch == 0 {
		state, epoch, err := s.register.Enter(ctx)
		s.epoch = epoch
		return state, err
	}
	state, err := s.register.Read(ctx, s.sent())
	if err == nil {
		s.done = &state.Value
	}
	return state, err
}

// Write writes the register. ErrStale, ErrElapsed, ErrDone and locks.ErrNotHeld mean that the
// guard refused and nothing was written.
func (s *Section) Write(ctx context.Context, value int64) (State, error) {
	switch s.guard {
	case Elapsed:
		if end := s.lease.Deadline(); !end.IsZero() && !s.clock.Now().Before(end) {
			return State{}, ErrElapsed
		}
	case CheckToken:
		v, ok := s.lease.(locks.Verifier)
		if !ok {
			return State{}, errors.New("guard check-token: the lease has no way to ask whether it is still held")
		}
		if err := v.Verify(ctx); err != nil {
			return State{}, err
		}
	case Epoch:
		if s.epoch == 0 {
			if _, err := s.Read(ctx); err != nil {
				return State{}, err
			}
		}
	case DoneMarker:
		if s.done == nil {
			if _, err := s.Read(ctx); err != nil {
				return State{}, err
			}
		}
		if value <= *s.done {
			return State{}, ErrDone
		}
	}
	return s.register.Write(ctx, value, s.sent())
}

// sent is the token that goes over the wire; 0 if the guard sends none.
func (s *Section) sent() int64 {
	if s.guard == Fence || s.guard == Epoch {
		return s.Token()
	}
	return 0
}

// Refused reports whether err is a guard's definite refusal: nothing was written.
func Refused(err error) bool {
	return errors.Is(err, ErrStale) || errors.Is(err, ErrElapsed) || errors.Is(err, ErrDone)
}
