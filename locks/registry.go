package locks

// Spec describes one lock of the catalogue.
type Spec struct {
	Name   string
	Title  string // one line for people
	Source string // article letter and section
	Sound  bool
	// Assumption is what a sound lock needs in order to be sound.
	Assumption string
	// Flaw names the pitfalls that break a broken lock.
	Flaw string
	// Masters is the number of independent masters: 1, or 5 for Redlock.
	Masters int
	// Replicas is the number of replicas that the lock itself needs, of the first master.
	Replicas int
	// Variant names the lock whose source this one shares, if it is a variant or a mutant.
	Variant string
	// Extends, Renews, Reenters and ReadWrite say that leases are Extenders, that they are
	// Watched, and that the lock is Reentrant or an RWLocker.
	Extends, Renews, Reenters, ReadWrite bool
	// Notifies says that the lock is a Notifier, Waits that it is Patient.
	Notifies, Waits bool
	// PerProcess says that one lock serves all threads of its process, and has in it what
	// they share: a pool of connections, or the one connection. Env.Rand must then be safe for
	// concurrent use. Else each thread has a lock, and they share the clients in Env.Nodes.
	PerProcess bool
	// Fencing says that leases carry fencing tokens.
	Fencing bool
	// HasToken says that the key holds a token unique to the attempt. Leases are
	// Verifiers then.
	HasToken bool
	// WholeSeconds says that the lock's commands count its TTL in seconds. A sound lock
	// refuses any other TTL with an *InputError, a broken one does what its source does.
	WholeSeconds bool
	// Keys are the names under which the lock on key is kept. Nil means key alone.
	Keys func(key string) []string
	// Database is that in which they are.
	Database int
	// Guards are those that the lock's worker knows, by name. Nil means all; see resource.Guard.
	Guards []string
	// ClientName is what the lock's users call their clients, for Env.Client: 0 is the
	// first. Nil means that they use UUIDs.
	ClientName func(client int) string
	// Unseeded says what the lock takes from the machine, so that a run of the same seed
	// may differ. Empty means nothing.
	Unseeded string
	// Promises are what the lock says that it keeps, beyond what its capabilities show.
	Promises Promises
	// New makes the lock for one client. Env must have Masters nodes, a clock and a
	// source of random bytes. A lock that is a Connector must be closed. Nil: only the lock's
	// worker can make it.
	New func(Env) Locker
}

// All returns every lock, in the order of the catalogue.
func All() []Spec {
	return []Spec{
		{
			Name:    "exists-set",
			Title:   "EXISTS, then SET; DEL",
			Source:  "D",
			Flaw:    "P01, P03",
			Masters: 1,
			New:     NewExistsSet,
		},
		{
			Name:    "setnx",
			Title:   "SETNX; DEL",
			Source:  "D",
			Flaw:    "P01",
			Masters: 1,
			New:     NewSetNX,
		},
		{
			Name:     "setnx-expire",
			Title:    "SETNX, then EXPIRE; DEL",
			Source:   "A 3.3, B, D",
			Flaw:     "P02, P07",
			Masters:  1,
			HasToken: true,
			New:      NewSetNXExpire,
		},
		{
			Name:    "setnx-timestamp-del",
			Title:   "SETNX of the instant it ends, if that has passed DEL and SETNX; DEL",
			Source:  "B",
			Flaw:    "P04, P06, P07",
			Masters: 1,
			New:     NewSetNXTimestampDel,
		},
		{
			Name:    "getset",
			Title:   "SETNX of the instant it ends, if that has passed GETSET, then EXPIRE; DEL",
			Source:  "B",
			Flaw:    "P05, P06, P07",
			Masters: 1,
			New:     NewGetSet,
		},
		{
			Name:         "lua-setnx-expire",
			Title:        "script of SETNX and EXPIRE; DEL",
			Source:       "B",
			Flaw:         "P07, P28",
			Masters:      1,
			WholeSeconds: true,
			New:          NewLuaSetNXExpire,
		},
		{
			Name:     "setnx-px-del",
			Title:    "SET NX PX; unconditional DEL",
			Source:   "A 4.3, D",
			Flaw:     "P07",
			Masters:  1,
			HasToken: true,
			New:      NewSetNXPXDel,
		},
		{
			Name:     "setnx-px-get-del",
			Title:    "SET NX PX; GET, compare, DEL",
			Source:   "A 4.4, D",
			Flaw:     "P08",
			Masters:  1,
			HasToken: true,
			New:      NewSetNXPXGetDel,
		},
		{
			Name:       "setnx-px-watch",
			Title:      "SET NX PX; WATCH, GET, MULTI, DEL, EXEC",
			Source:     "A 4.2",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Extends:    true,
			HasToken:   true,
			New:        NewSetNXPXWatch,
		},
		{
			Name:     "setnx-px-get-watch",
			Title:    "SET NX PX; GET, WATCH, MULTI, DEL, EXEC",
			Source:   "A 4.2 mutant",
			Flaw:     "P09",
			Masters:  1,
			Variant:  "setnx-px-watch",
			HasToken: true,
			New:      NewSetNXPXGetWatch,
		},
		{
			Name:       "setnx-px-watch-shared",
			Title:      "setnx-px-watch on one connection for all threads of a process",
			Source:     "A 3.1, A 4.2",
			Flaw:       "P59",
			Masters:    1,
			Variant:    "setnx-px-watch",
			HasToken:   true,
			PerProcess: true,
			Unseeded:   "the goroutines of rueidis take turns as the machine has it",
			New:        NewSetNXPXWatchShared,
		},
		{
			Name:     "setnx-px-watch-misread",
			Title:    "setnx-px-watch that reads the replies of its release wrongly",
			Source:   "A 2.3, A 4.2",
			Flaw:     "P10",
			Masters:  1,
			Variant:  "setnx-px-watch",
			HasToken: true,
			New:      NewSetNXPXWatchMisread,
		},
		{
			Name:       "setnx-px-lua",
			Title:      "SET NX PX; compare-and-delete script",
			Source:     "A 4.1, C, D",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Extends:    true,
			HasToken:   true,
			New:        NewSetNXPXLua,
		},
		{
			Name:     "setnx-px-lua-resend",
			Title:    "setnx-px-lua whose client sends a command again if its reply gets lost",
			Source:   "D, go-redis#2985",
			Flaw:     "P26",
			Masters:  1,
			Variant:  "setnx-px-lua",
			Extends:  true,
			HasToken: true,
			New:      NewSetNXPXLuaResend,
		},
		{
			Name:     "setnx-px-spin",
			Title:    "setnx-px-lua that is waited for by trying again at once, on one connection of a small pool",
			Source:   "A 3.2",
			Flaw:     "P47, P60",
			Masters:  1,
			HasToken: true,
			Waits:    true, PerProcess: true,
			New: NewSetNXPXSpin,
		},
		{
			Name:       "setnx-px-spin-per-command",
			Title:      "setnx-px-spin that takes a connection for each command alone",
			Source:     "A 3.2, repaired",
			Flaw:       "P47",
			Masters:    1,
			Variant:    "setnx-px-spin",
			HasToken:   true,
			Waits:      true,
			PerProcess: true,
			New:        NewSetNXPXSpinPerCommand,
		},
		{
			Name:         "lua-uuid",
			Title:        "script of SETNX and EXPIRE, UUID and time as token; compare-and-delete script",
			Source:       "B",
			Sound:        true,
			Assumption:   "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:      1,
			WholeSeconds: true,
			Extends:      true,
			HasToken:     true,
			Waits:        true,
			New:          NewLuaUUID,
		},
		{
			Name:         "lua-uuid-as-printed",
			Title:        "lua-uuid whose loop gives up before its last try, with one try",
			Source:       "B",
			Flaw:         "P48",
			Masters:      1,
			WholeSeconds: true,
			Variant:      "lua-uuid",
			Extends:      true,
			HasToken:     true,
			Waits:        true,
			New:          NewLuaUUIDAsPrinted,
		},
		{
			Name:       "set-options",
			Title:      "SET with NX, an expiry and GET; compare-and-delete script",
			Source:     "C",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Extends:    true,
			HasToken:   true,
			New:        func(env Env) Locker { return newSetOptions(env, SetOptions{}) },
		},
		{
			Name:     "renew-naive",
			Title:    "setnx-px-lua, renewed at most four times after whole TTLs; one stop flag for all keys",
			Source:   "D",
			Flaw:     "P34, P35, P36, P61",
			Masters:  1,
			HasToken: true,
			New:      NewRenewNaive,
		},
		{
			Name:     "renew-naive-early",
			Title:    "renew-naive, renewed every third of the TTL",
			Source:   "D, with P34 repaired",
			Flaw:     "P35, P36, P61",
			Masters:  1,
			Variant:  "renew-naive",
			HasToken: true,
			New:      NewRenewNaiveEarly,
		},
		{
			Name:       "watchdog",
			Title:      "setnx-px-lua, renewed by script every third of the TTL",
			Source:     "C, D (Redisson)",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops when it is told of the loss",
			Masters:    1,
			Renews:     true,
			HasToken:   true,
			New:        NewWatchdog,
		},
		{
			Name:     "watchdog-uncapped",
			Title:    "watchdog without a bound on the total hold time",
			Source:   "D (Redisson)",
			Flaw:     "P39",
			Masters:  1,
			Variant:  "watchdog",
			Renews:   true,
			HasToken: true,
			New:      NewWatchdogUncapped,
		},
		{
			Name:     "watchdog-untold",
			Title:    "watchdog that does not tell its holder of a loss",
			Source:   "Redisson (redisson#4698)",
			Flaw:     "P37",
			Masters:  1,
			Variant:  "watchdog",
			Renews:   true,
			HasToken: true,
			New:      NewWatchdogUntold,
		},
		{
			Name:     "watchdog-recreate",
			Title:    "watchdog whose renewal sets a key that is gone, and outlives the release",
			Source:   "mutant (redisson#7272)",
			Flaw:     "P38",
			Masters:  1,
			Variant:  "watchdog",
			Renews:   true,
			HasToken: true,
			New:      NewWatchdogRecreate,
		},
		{
			Name:     "reentrant-local",
			Title:    "setnx-px-lua, re-entries counted by the client",
			Source:   "D",
			Flaw:     "P30, P62, P67",
			Masters:  1,
			Reenters: true,
			HasToken: true,
			New:      NewReentrantLocal,
		},
		{
			Name:       "reentrant-hash",
			Title:      "script: HINCRBY of the holder's field, PEXPIRE; script: HINCRBY -1, DEL at 0",
			Source:     "C",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, the holder stops before its deadline, and no re-entry asks for less than is left (P32)",
			Masters:    1,
			Extends:    true,
			Reenters:   true,
			New:        NewReentrantHash,
		},
		{
			Name:       "reentrant-hash-keep",
			Title:      "reentrant-hash that never shortens a lease",
			Source:     "C, repaired",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Variant:    "reentrant-hash",
			Extends:    true,
			Reenters:   true,
			New:        NewReentrantHashKeep,
		},
		{
			Name:       "reentrant-hash-once",
			Title:      "reentrant-hash-keep that counts a request once, however often it is sent",
			Source:     "C, repaired",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Variant:    "reentrant-hash",
			Extends:    true,
			Reenters:   true,
			New:        NewReentrantHashOnce,
		},
		{
			Name:     "reentrant-hash-thread-id",
			Title:    "reentrant-hash whose field is the bare thread id",
			Source:   "C",
			Flaw:     "P29",
			Masters:  1,
			Variant:  "reentrant-hash",
			Extends:  true,
			Reenters: true,
			New:      NewReentrantHashThreadID,
		},
		{
			Name:       "redisson-style",
			Title:      "reentrant-hash-keep that is renewed, and tells waiters; script with PUBLISH",
			Source:     "D (Redisson)",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops when it is told of the loss",
			Masters:    1,
			Renews:     true,
			Reenters:   true,
			Notifies:   true,
			Waits:      true,
			New:        NewRedissonStyle,
		},
		{
			Name:      "rw-two-key",
			Title:     "a key for all readers, a key for the writer; DEL",
			Source:    "E 1",
			Flaw:      "P40, P41, P45, P63",
			Masters:   1,
			ReadWrite: true,
			Keys:      func(key string) []string { return []string{key, ReadKey(key)} },
			New:       NewRWTwoKey,
		},
		{
			Name:      "rw-hash-timestamp",
			Title:     "a hash with client times of a reader and a writer; HDEL if equal",
			Source:    "E 2",
			Flaw:      "P42, P43, P44, P45, P64, P65",
			Masters:   1,
			ReadWrite: true,
			New:       NewRWHashTimestamp,
		},
		{
			Name:       "rw-hash",
			Title:      "a deadline per holder by the server's clock, writer intent; ZREM of the own",
			Source:     "fix for E",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Extends:    true,
			ReadWrite:  true,
			HasToken:   true,
			New:        NewRWHash,
		},
		{
			Name:      "rw-hash-client-id",
			Title:     "rw-hash whose entries are clients, which may come in again and are not counted",
			Source:    "mutant of rw-hash, E",
			Flaw:      "P46",
			Masters:   1,
			Variant:   "rw-hash",
			Extends:   true,
			ReadWrite: true,
			New:       NewRWHashClientID,
		},
		{
			Name:       "redlock",
			Title:      "Redlock: a majority of independent masters",
			Source:     "A 2.5, D, R",
			Sound:      true,
			Assumption: "a majority of masters keep their keys and their clocks, and the holder stops before its deadline",
			Masters:    5,
			Extends:    true,
			HasToken:   true,
			New:        NewRedlock,
		},
		{
			Name:     "redlock-no-validity",
			Title:    "Redlock that ignores the time that acquiring takes",
			Source:   "mutant of redlock, A 2.5",
			Flaw:     "P23",
			Masters:  5,
			Variant:  "redlock",
			Extends:  true,
			HasToken: true,
			New:      NewRedlockNoValidity,
		},
		{
			Name:     "redlock-partial-cleanup",
			Title:    "Redlock that cleans up only where it was told OK",
			Source:   "mutant of redlock, A 2.5",
			Flaw:     "P24",
			Masters:  5,
			Variant:  "redlock",
			Extends:  true,
			HasToken: true,
			New:      NewRedlockPartialCleanup,
		},
		{
			Name:     "redlock-answers-only",
			Title:    "Redlock for which nodes that do not answer do not count",
			Source:   "mutant of redlock, A 2.5",
			Flaw:     "P19",
			Masters:  5,
			Variant:  "redlock",
			Extends:  true,
			HasToken: true,
			New:      NewRedlockAnswersOnly,
		},
		{
			Name:       "fenced",
			Title:      "setnx-px-lua with fencing tokens",
			Source:     "R, K",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the resource refuses old tokens",
			Masters:    1,
			Fencing:    true,
			Extends:    true,
			HasToken:   true,
			New:        NewFenced,
		},
		{
			Name:     "fenced-evalsha",
			Title:    "fenced that sends its scripts once, and then only their digests",
			Source:   "mutant of fenced, R",
			Flaw:     "P57",
			Masters:  1,
			Variant:  "fenced",
			Fencing:  true,
			HasToken: true,
			New:      NewFencedEvalsha,
		},
		{
			Name:     "setnx-px-wait",
			Title:    "SET NX PX, WAIT 1; compare-and-delete script",
			Source:   "R",
			Flaw:     "P17",
			Masters:  1,
			Replicas: 1,
			HasToken: true,
			New:      NewSetNXPXWait,
		},
		{
			Name:     "setnx-px-wait-elsewhere",
			Title:    "setnx-px-wait whose WAIT goes on another connection of the pool",
			Source:   "R, go-redis#1989",
			Flaw:     "P17, P66",
			Masters:  1,
			Replicas: 1,
			Variant:  "setnx-px-wait",
			HasToken: true,
			New:      NewSetNXPXWaitElsewhere,
		},
		{
			Name:     "redsync",
			Title:    "redsync with go-redis clients of default options",
			Source:   "redsync v4.18.1",
			Flaw:     "P25",
			Masters:  5,
			Extends:  true,
			HasToken: true,
			New:      NewRedsync,
		},
		{
			Name:       "redsync-context-timeout",
			Title:      "redsync with ContextTimeoutEnabled",
			Source:     "redsync v4.18.1",
			Sound:      true,
			Assumption: "a majority of masters keep their keys and their clocks, and the holder stops before its deadline",
			Masters:    5,
			Variant:    "redsync",
			Extends:    true,
			HasToken:   true,
			New:        NewRedsyncContextTimeout,
		},
		{
			Name:     "redsync-fail-fast",
			Title:    "redsync with WithFailFast: the first majority decides",
			Source:   "redsync v4.18.1",
			Flaw:     "P27",
			Masters:  5,
			Variant:  "redsync",
			Extends:  true,
			HasToken: true,
			New:      NewRedsyncFailFast,
		},
		{
			Name:     "redsync-setnx-on-extend",
			Title:    "redsync with WithSetNXOnExtend: extend sets a key that is gone",
			Source:   "redsync v4.18.1",
			Flaw:     "P38",
			Masters:  5,
			Variant:  "redsync",
			Extends:  true,
			HasToken: true,
			New:      NewRedsyncSetNXOnExtend,
		},
		{
			Name:       "bsm-redislock",
			Title:      "redislock with random tokens: one script acquires or takes its own key over",
			Source:     "bsm/redislock v0.9.4",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Extends:    true,
			HasToken:   true,
			New:        NewBSMRedislock,
		},
		{
			Name:       "bsm-redislock-resend",
			Title:      "bsm-redislock whose client sends a command again if its reply gets lost",
			Source:     "bsm/redislock v0.9.4",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			Variant:    "bsm-redislock",
			Extends:    true,
			HasToken:   true,
			New:        NewBSMRedislockResend,
		},
		{
			Name:       "bsm-redislock-custom-token",
			Title:      "redislock with the client's name as its token",
			Source:     "bsm/redislock v0.9.4",
			Flaw:       "P55",
			Masters:    1,
			Variant:    "bsm-redislock",
			Extends:    true,
			ClientName: workerName,
			New:        NewBSMRedislockCustomToken,
		},
		{
			Name:     "rueidislock",
			Title:    "script with SET NX PXAT by the client's clock, renewed by PEXPIREAT",
			Source:   "rueidislock v1.0.79",
			Flaw:     "P26, P37, P56, P62, P67",
			Masters:  1,
			Renews:   true,
			Keys:     func(key string) []string { return []string{RueidislockKey(key)} },
			Unseeded: "rueidislock draws its tokens from the machine's random source",
			New:      NewRueidislock,
		},
		{
			Name:     "rueidislock-px",
			Title:    "rueidislock with FallbackSETPX: SET NX PX, renewed by PEXPIREAT",
			Source:   "rueidislock v1.0.79",
			Flaw:     "P26, P37, P56, P62, P67",
			Masters:  1,
			Variant:  "rueidislock",
			Renews:   true,
			Keys:     func(key string) []string { return []string{RueidislockKey(key)} },
			Unseeded: "rueidislock draws its tokens from the machine's random source",
			New:      NewRueidislockPX,
		},
	}
}

// Find returns the lock of that name, or an *UnknownError.
func Find(name string) (Spec, error) {
	all := All()
	known := make([]string, len(all))
	for i, spec := range all {
		if spec.Name == name {
			return spec, nil
		}
		known[i] = spec.Name
	}
	return Spec{}, &UnknownError{Kind: "lock", Name: name, Nearest: Nearest(name, known), Known: known}
}
