package locks

// NewSetNXPXLuaResend returns the lock setnx-px-lua-resend: setnx-px-lua over a go-redis
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
func NewSetNXPXLuaResend(env Env) Locker { return resending(env, NewSetNXPXLua) }

// NewBSMRedislockResend returns the lock bsm-redislock-resend: bsm-redislock over a go-redis
// client of default options, as most users of the library have it. Its commands are those of
// NewBSMRedislock, each sent again, up to three times, if the connection breaks.
//
// Sound under the assumptions of setnx-px-lua: an acquire that meets its own key takes it
// over (P26). A release that is sent again answers ErrNotHeld of a key that it has deleted.
//
// The lock is a Connector.
func NewBSMRedislockResend(env Env) Locker { return resending(env, NewBSMRedislock) }

// resender is a lock with clients of its own, of default options.
type resender struct {
	Locker
	defaultClients
}

func resending(env Env, lock func(Env) Locker) Locker {
	clients := newDefaultClients(env, true)
	env.Nodes = clients
	return &resender{lock(env), clients}
}
