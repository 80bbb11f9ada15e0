package locktest

// Flaw says that a lock must fail a clause, and why.
type Flaw struct{ Lock, Clause, Reason string }

// Flaws is every clause that a lock must fail, one line each: in the order of the
// catalogue, then of the clauses.
func Flaws() []Flaw {
	return []Flaw{
		{"exists-set", "mutual exclusion", "P03: two clients find no key, and both set it"},
		{"exists-set", "expiry", "P01: the key has no TTL, so that no lease ends"},
		{"exists-set", "foreign release is refused", "P01: the key has no TTL, so that no lease ends"},
		{"setnx", "expiry", "P01: the key has no TTL, so that no lease ends"},
		{"setnx", "foreign release is refused", "P01: the key has no TTL, so that no lease ends"},
		{"setnx", "interrupted acquire leaves nothing", "P01: a client that stops after SETNX leaves a key without TTL"},
		{"setnx-expire", "foreign release is refused", "P07: DEL takes the lock from its next holder"},
		{"setnx-expire", "interrupted acquire leaves nothing", "P02: a client that stops after SETNX leaves a key without TTL"},
		{"setnx-timestamp-del", "foreign release is refused", "P07: DEL takes the lock from its next holder"},
		{"setnx-timestamp-del", "deadline is not after expiry", "P04: the key has no TTL; it ends when a client compares its value with a clock and deletes it"},
		{"getset", "foreign release is refused", "P07: DEL takes the lock from its next holder"},
		{"getset", "interrupted acquire leaves nothing", "P02, mended: a client that stops after SETNX leaves a key that may be taken over 1 s after the lease"},
		{"lua-setnx-expire", "foreign release is refused", "P07: DEL takes the lock from its next holder"},
		{"lua-setnx-expire", "bad input", "P28: a fraction of a second fails in the script, after SETNX"},
		{"setnx-px-del", "foreign release is refused", "P07: DEL takes the lock from its next holder"},
		{"setnx-px-watch-misread", "mutual exclusion", "P10: a release that deleted the key says that it was not held"},
		{"setnx-px-watch-misread", "refusal", "P10: a release that deleted the key says that it was not held"},
		{"setnx-px-watch-misread", "foreign release is refused", "P10: a release that deleted the key says that it was not held"},
		{"setnx-px-watch-misread", "second release is refused", "P10: a release that deleted the key says that it was not held"},
		{"setnx-px-watch-misread", "no re-entry", "P10: a release that deleted the key says that it was not held"},
		{"extend-unchecked", "extend after expiry is refused", "P69: extend gives whatever is under the key a new end"},
		{"extend-nothing", "bad input", "P71: an extend by 0 deletes the key"},
		{"extend-seconds", "extend", "P74: extend tells PEXPIRE seconds"},
		{"lua-uuid-as-printed", "mutual exclusion", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "refusal", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "expiry", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "foreign release is refused", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "second release is refused", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "cancelled context", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "interrupted acquire leaves nothing", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "deadline is not after expiry", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "verify", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "no token", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "bad input", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "capabilities are as promised", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "no re-entry", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "extend", "P48: with one try it never tries"},
		{"lua-uuid-as-printed", "extend after expiry is refused", "P48: with one try it never tries"},
		{"watchdog-untold", "loss is told in time", "P37: the holder is not told of a loss"},
		{"reentrant-local", "foreign release is refused", "P62: the last release says that it worked, whatever Redis answers"},
		{"reentrant-hash-thread-id", "mutual exclusion", "P29: two processes with the same thread number are one holder"},
		{"reentrant-hash-thread-id", "refusal", "P29: two processes with the same thread number are one holder"},
		{"reentrant-hash-thread-id", "foreign release is refused", "P29: two processes with the same thread number are one holder"},
		{"reentrant-hash-thread-id", "re-entry", "P29: two processes with the same thread number are one holder"},
		{"reentrant-hash-thread-id", "extend", "P29: two processes with the same thread number are one holder"},
		{"reentrant-hash-thread-id", "extend after expiry is refused", "P29: two processes with the same thread number are one holder"},
		{"rw-two-key", "foreign release is refused", "P63: DEL takes the lock from the next writer"},
		{"rw-two-key", "readers and writers", "P40: the first reader's release is that of all"},
		{"rw-two-key", "a reader's release keeps the others", "P40: the first reader's release is that of all"},
		{"rw-two-key", "a reader's expiry keeps the others", "P40: readers share a key, with the TTL of the last to come"},
		{"rw-hash-timestamp", "foreign release is refused", "the release script answers nothing: every release says that it worked"},
		{"rw-hash-timestamp", "second release is refused", "the release script answers nothing: every release says that it worked"},
		{"rw-hash-timestamp", "a reader's release keeps the others", "P42: the second reader overwrites the first one's timestamp, and removes it"},
		{"rw-hash-timestamp", "a reader's expiry frees the writer", "the release script answers nothing: every release says that it worked"},
		{"rw-hash-timestamp", "a reader's expiry keeps the others", "P64: each acquire sets the key's TTL anew"},
		{"rw-hash-client-id", "no re-entry", "P46: a writer that is inside gets in again, and nobody counts"},
		{"redlock-partial-cleanup", "interrupted acquire leaves nothing", "P24: an acquire whose answers were lost says that the lock is taken"},
		{"fenced-expires", "tokens increase", "P76: the counter ends with the lease"},
		{"fenced-per-client", "tokens increase", "P77: each client counts by itself"},
		{"redsync-setnx-on-extend", "extend after expiry is refused", "P38: extend sets a key that is gone"},
		{"bsm-redislock-custom-token", "mutual exclusion", "P55: worker-1 takes over the key of worker-12"},
		{"bsm-redislock-custom-token", "refusal", "P55: worker-1 takes over the key of worker-12"},
		{"bsm-redislock-custom-token", "no re-entry", "P55: an acquire takes over every key that begins with its token, its own too"},
		{"bsm-redislock-custom-token", "extend", "P55: worker-1 takes over the key of worker-12"},
		{"rueidislock", "foreign release is refused", "P62: a release that the library tried says that it worked, while it has not noticed the loss"},
		{"rueidislock", "deadline is not after expiry", "P37: the library tells no deadline"},
		{"rueidislock", "renewal", "P37: the library tells no deadline"},
		{"rueidislock", "loss is told in time", "P37: a renewal is tried until half a TTL after the lease ended"},
		{"rueidislock-px", "foreign release is refused", "P62: a release that the library tried says that it worked, while it has not noticed the loss"},
		{"rueidislock-px", "deadline is not after expiry", "P37: the library tells no deadline"},
		{"rueidislock-px", "renewal", "P37: the library tells no deadline"},
		{"rueidislock-px", "loss is told in time", "P37: a renewal is tried until half a TTL after the lease ended"},
	}
}

// Broken returns the reason why the lock must fail the clause, or "" if it must keep it.
func Broken(lock, clause string) string {
	for _, f := range Flaws() {
		if f.Lock == lock && f.Clause == clause {
			return f.Reason
		}
	}
	return ""
}
