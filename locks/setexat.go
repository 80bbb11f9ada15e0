package locks

import "time"

func setEXATSpec() Spec {
	return Spec{
		Name:     "set-exat",
		Title:    "set-options with EXAT: the client says at which second the key ends",
		Source:   "C",
		Masters:  1,
		Variant:  "set-options",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true, Tolerance: time.Second},
		Breaks: map[string]string{
			"expiry":                             "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"verify":                             "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"extend after expiry is refused":     "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"interrupted acquire leaves nothing": "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"foreign release is refused":         "EXAT counts whole seconds, so that a lease of less lasts for one or two",
		},
		New: newSetEXAT,
	}
}

// newSetEXAT returns the lock set-exat: set-options whose key ends at an instant that the client
// computes.
//
//	acquire           SET key token NX EXAT second, rounded up
//	release, extend   as set-options
//
// Source: C 不可重入锁, the option EXAT.
//
// Broken: the client's clock and the server's must agree. A server whose clock is ahead by the TTL
// keeps nothing, and answers OK (P56); so does any server of a client whose clock is behind by as
// much (P91).
func newSetEXAT(env Env) Locker { return newSetOptions(env, SetOptions{Expiry: EXAT}) }
