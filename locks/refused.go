package locks

// RefusedError is the refusal of an acquire together with what its caller could release all the
// same. Programs do that which release wherever an acquire ends: try, acquire, finally release.
// Nothing is held, and a sound lock changes nothing when Lease is released.
type RefusedError struct {
	Lease Lease // never nil
	Err   error // why it was refused, such as ErrTaken
}

// Error returns what the refusal says.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the refusal.
func (e *RefusedError) Unwrap() error { return e.Err }
