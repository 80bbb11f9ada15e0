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
		Promises: Promises{Tolerance: time.Second},
		Breaks: map[string]string{
			"expiry":                             "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"verify":                             "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"extend after expiry is refused":     "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"interrupted acquire leaves nothing": "EXAT counts whole seconds, so that a lease of less lasts for one or two",
			"foreign release is refused":         "EXAT counts whole seconds, so that a lease of less lasts for one or two",
		},
		New: func(env Env) Locker { return newSetOptions(env, SetOptions{Expiry: EXAT}) },
	}
}
