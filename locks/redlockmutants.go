package locks

// NewRedlockNoValidity returns the lock redlock-no-validity, which ignores the time that
// acquiring takes.
//
//	acquire, release, extend  as redlock
//
// It is redlock without A 2.5 steps 2 and 3: an acquire waits for every node for as long
// as its context lets it, and the lease counts from the last answer.
//
// Broken: when a slow node's answer completes the majority, the keys on the others may
// have expired and be somebody else's (P23).
func NewRedlockNoValidity(env Env) Locker {
	return &redlock{env: env, flaws: redlockFlaws{noValidity: true}}
}

// NewRedlockPartialCleanup returns the lock redlock-partial-cleanup, which cleans up after
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
func NewRedlockPartialCleanup(env Env) Locker {
	return &redlock{env: env, flaws: redlockFlaws{partialCleanup: true}}
}

// NewRedlockAnswersOnly returns the lock redlock-answers-only, for which nodes
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
func NewRedlockAnswersOnly(env Env) Locker {
	return &redlock{env: env, flaws: redlockFlaws{ofAnswers: true}}
}
