package locks

func redlockNoValiditySpec() Spec {
	return Spec{
		Name:     "redlock-no-validity",
		Title:    "Redlock that ignores the time that acquiring takes",
		Source:   "mutant of redlock, A 2.5",
		Masters:  5,
		Variant:  "redlock",
		Extends:  true,
		HasToken: true,
		New:      newRedlockNoValidity,
	}
}

// newRedlockNoValidity returns the lock redlock-no-validity, which ignores the time that
// acquiring takes.
//
//	acquire, release, extend  as redlock
//
// It is redlock without A 2.5 steps 2 and 3: an acquire waits for every node for as long
// as its context lets it, and the lease counts from the last answer.
//
// Broken: when a slow node's answer completes the majority, the keys on the others may
// have expired and be somebody else's (P23).
func newRedlockNoValidity(env Env) Locker {
	return &redlock{env: env, flaws: redlockFlaws{noValidity: true}}
}

func redlockPartialCleanupSpec() Spec {
	return Spec{
		Name:     "redlock-partial-cleanup",
		Title:    "Redlock that cleans up only where it was told OK",
		Source:   "mutant of redlock, A 2.5",
		Masters:  5,
		Variant:  "redlock",
		Extends:  true,
		HasToken: true,
		Breaks: map[string]string{
			"interrupted acquire leaves nothing": "P24: an acquire whose answers were lost says that the lock is taken",
		},
		New: newRedlockPartialCleanup,
	}
}

// newRedlockPartialCleanup returns the lock redlock-partial-cleanup, which cleans up after
// a failed acquire only where it knows of a key.
//
//	acquire           as redlock, but one that fails releases on the nodes that said OK, and
//	                  answers ErrTaken: it believes that it has left nothing behind
//	release, extend   as redlock
//
// It is redlock without A 2.5 step 5: release on all nodes.
//
// Broken: where SET was applied and its answer lost, the key stays until its TTL and has
// no owner, and the refusal was untrue (P24).
func newRedlockPartialCleanup(env Env) Locker {
	return &redlock{env: env, flaws: redlockFlaws{partialCleanup: true}}
}

func redlockAnswersOnlySpec() Spec {
	return Spec{
		Name:     "redlock-answers-only",
		Title:    "Redlock for which nodes that do not answer do not count",
		Source:   "mutant of redlock, A 2.5",
		Masters:  5,
		Variant:  "redlock",
		Extends:  true,
		HasToken: true,
		New:      newRedlockAnswersOnly,
	}
}

// newRedlockAnswersOnly returns the lock redlock-answers-only, for which nodes
// that do not answer do not count.
//
//	acquire           as redlock, with a majority of the nodes that answered
//	release, extend   as redlock
//
// It is redlock for which A 2.5's "majority" is one of those that are up, in order to work
// when more than half of them are down.
//
// Broken: what a minority granted while the rest was away the rest grants again when it is
// back (P19).
func newRedlockAnswersOnly(env Env) Locker {
	return &redlock{env: env, flaws: redlockFlaws{ofAnswers: true}}
}
