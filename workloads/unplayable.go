package workloads

import "fmt"

// UnplayableError says that a lock never comes to a point that a script waits for, so that
// the script has nothing to say of it: no command of its release deletes a key, or its lease
// does not end while its holder lives.
type UnplayableError struct{ Why string }

func (e *UnplayableError) Error() string { return e.Why }

// StepError says which step of a script could not be played.
type StepError struct {
	N    int // counting from 1
	Text string
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d, %q: %v", e.N, e.Text, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }
