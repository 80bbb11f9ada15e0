package locks

func setNXPXLuaResendSpec() Spec {
	return Spec{
		Name:     "setnx-px-lua-resend",
		Title:    "setnx-px-lua whose client sends a command again if its reply gets lost",
		Source:   "D, go-redis#2985",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Extends:  true,
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newSetNXPXLuaResend,
	}
}

// newSetNXPXLuaResend returns the lock setnx-px-lua-resend: setnx-px-lua over a go-redis
// client of default options, which sends a command whose reply got lost again, up to three
// times.
//
//	acquire  SET key token NX PX milliseconds, again if the connection breaks
//	release  a script that deletes key if its value is the own token, again if it breaks
//	extend   a script that sets key's TTL if its value is the own token, again if it breaks
//
// Source: go-redis issue 2985, default options (MaxRetries 3); D's lock0 comes to the same,
// as it says of an exception that the lock is taken.
//
// Broken: if the server had executed the SET whose reply was lost, the next one meets its own
// key. Acquire answers ErrTaken, and nobody has the lock until the TTL has passed (P26). A
// release that is sent again answers ErrNotHeld of a key that it has deleted.
//
// The lock is a Connector.
func newSetNXPXLuaResend(env Env) Locker { return OverDefaultClients(env, true, newSetNXPXLua) }
