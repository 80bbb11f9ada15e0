package player

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/schedule"
)

// UnplayableError says that a lock never comes to a point that a script waits for, so that
// the script has nothing to say of it: no command of its release deletes a key, or its lease
// does not end while its holder lives.
type UnplayableError struct {
	Why string
	// Slow says that on real servers a machine that is too busy may be why, and not the lock.
	Slow bool
}

func (e *UnplayableError) Error() string { return e.Why }

// MissedError says that a step which was to hit the lock, or to see what it does, did not: what
// comes after it puts the lock to no test. The script goes on, since what breaks all the same is
// broken, and no property passes.
type MissedError struct {
	Why string
	// Key is of the lock that a client was not given although it was certainly free. Empty: it is not that.
	Key string
}

func (e *MissedError) Error() string { return e.Why }

// StepError says which step of a script could not be played.
type StepError struct {
	N    int // counting from 1
	Step schedule.Step
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d, %q: %v", e.N, e.Step, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }
