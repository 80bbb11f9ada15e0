package locks

import "errors"

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

// WithRefused returns err with lease as what a refused caller could release, if err is an ErrTaken. Any
// other err is returned as it is.
func WithRefused(lease Lease, err error) error {
	if errors.Is(err, ErrTaken) {
		return &RefusedError{Lease: lease, Err: err}
	}
	return err
}
