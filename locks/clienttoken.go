package locks

func clientTokenSpec() Spec {
	return Spec{
		Name:     "client-token",
		Title:    "setnx-px-lua whose token is the client's name",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Promises: Promises{ReleasesRefused: true},
		New:      newClientToken,
	}
}

// newClientToken returns the lock client-token, whose token is the client's name.
//
//	acquire, release  as setnx-px-lua
//
// It is setnx-px-lua that knows its owner by its process, as examples with the host's name and
// the process's number do.
//
// Broken: to it all threads of a process are one owner, and so are all attempts of one client.
// A release that comes twice ends the hold of whoever came next in the same process (P81), and one by a
// thread that was refused that of the thread that holds the lock (P97).
func newClientToken(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.token = func(env Env) (string, error) { return env.Client, nil }
	return lock
}
