package locks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

func reentrantHashSpec() Spec {
	return Spec{
		Name:       "reentrant-hash",
		Title:      "script: HINCRBY of the holder's field, PEXPIRE; script: HINCRBY -1, DEL at 0",
		Source:     "C",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, the holder stops before its deadline, no re-entry asks for less than is left (P32), and no command is sent twice (P33, P82)",
		Masters:    1,
		Extends:    true,
		Reenters:   true,
		New:        newReentrantHash,
	}
}

// newReentrantHash returns the lock reentrant-hash: a hash whose one field is the holder
// and whose value is how often it holds the lock. The holder is Env.Client:Env.Thread.
//
//	acquire  a script: if key is absent or has the holder's field: HINCRBY 1, PEXPIRE
//	release  a script: nil without the holder's field; HINCRBY -1; at 0: DEL
//	extend   a script: PEXPIRE if key has the holder's field
//
// Source: C 可重入锁, 解锁#可重入锁 and 自动续期. C counts in seconds and has EXPIRE.
//
// A re-entry sets the TTL that it asks for, even if less than what is left (P32), and the
// release of a re-entry does not set it back. An acquire whose reply is lost and which
// is sent again counts twice (P33): after an indefinite error the lock may stay taken until
// its TTL ends. A count that a server brings back from its disk (P51) is one too many as
// well, and as long as its holder comes back, nobody else gets the lock. The holder is the thread and not the attempt, so that the release of a
// lease that has ended gives back a later lease of the same thread.
//
// Sound under the assumptions of setnx-px-lua, if no re-entry asks for a lease that ends
// before the outer one, and no release comes after its lease has ended.
func newReentrantHash(env Env) Locker {
	return &reentrantHash{env: env, holder: holderID(env), acquire: hashAcquireScript, extend: hashExtendScript}
}

func reentrantHashKeepSpec() Spec {
	return Spec{
		Name:       "reentrant-hash-keep",
		Title:      "reentrant-hash that never shortens a lease",
		Source:     "C, repaired",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, the holder stops before its deadline, and no command is sent twice (P33, P82)",
		Masters:    1,
		Variant:    "reentrant-hash",
		Extends:    true,
		Reenters:   true,
		Promises:   Promises{NeverShortens: true},
		New:        newReentrantHashKeep,
	}
}

// newReentrantHashKeep returns the lock reentrant-hash-keep: reentrant-hash whose
// re-entries and extensions never shorten the lease.
//
//	acquire  a script: if key is absent or has the holder's field: HINCRBY 1, and PEXPIRE
//	         if PTTL is less
//	release  as reentrant-hash
//	extend   a script: PEXPIRE if key has the holder's field and PTTL is less
//
// Source: the repair of C for P32 (redisson#1110).
//
// Sound under the assumptions of setnx-px-lua, if no release comes after its lease has
// ended.
func newReentrantHashKeep(env Env) Locker {
	return &reentrantHash{env: env, holder: holderID(env), acquire: hashAcquireKeepScript, extend: hashExtendKeepScript}
}

func reentrantHashThreadIDSpec() Spec {
	return Spec{
		Name:     "reentrant-hash-thread-id",
		Title:    "reentrant-hash whose field is the bare thread id",
		Source:   "C",
		Masters:  1,
		Variant:  "reentrant-hash",
		Extends:  true,
		Reenters: true,
		Breaks: map[string]string{
			"mutual exclusion":               "P29: two processes with the same thread number are one holder",
			"refusal":                        "P29: two processes with the same thread number are one holder",
			"foreign release is refused":     "P29: two processes with the same thread number are one holder",
			"re-entry":                       "P29: two processes with the same thread number are one holder",
			"extend":                         "P29: two processes with the same thread number are one holder",
			"extend after expiry is refused": "P29: two processes with the same thread number are one holder",
		},
		New: newReentrantHashThreadID,
	}
}

// newReentrantHashThreadID returns the lock reentrant-hash-thread-id: reentrant-hash
// whose holder is Env.Thread alone, as in C's examples.
//
// Source: C 可重入锁: 'thread-1'.
//
// Broken: threads of two processes that have the same number are one holder (P29).
func newReentrantHashThreadID(env Env) Locker {
	return &reentrantHash{env: env, holder: threadID(env), acquire: hashAcquireScript, extend: hashExtendScript}
}

// holderID is unique to a thread of a process.
func holderID(env Env) string { return fmt.Sprintf("%s:%d", env.Client, env.Thread) }

// threadID is unique inside a process only.
func threadID(env Env) string { return fmt.Sprintf("thread-%d", env.Thread) }

type reentrantHash struct {
	env             Env
	holder          string
	acquire, extend script
}

func (r *reentrantHash) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	// Read before a byte is sent, see single.Acquire.
	deadline := r.env.Clock.Now().Add(ttl)
	got, err := r.acquire.run(ctx, r.env.Nodes[0], []string{key}, r.holder, ttl.Milliseconds())
	if err != nil {
		return nil, err
	}
	if got == 0 {
		return nil, ErrTaken
	}
	return &hashLease{lock: r, key: key, deadline: deadline}, nil
}

func (r *reentrantHash) Count(ctx context.Context, key string) (int64, error) {
	return hashCount(ctx, r.env.Nodes[0], key, r.holder)
}

// hashCount sends HGET. An absent key or field counts as 0.
func hashCount(ctx context.Context, node *redis.Client, key, holder string) (int64, error) {
	count, err := node.HGet(ctx, key, holder).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	default:
		return strconv.ParseInt(count, 10, 64)
	}
}

// hashLease is one acquire or re-entry. It is safe for concurrent use.
type hashLease struct {
	lock *reentrantHash
	key  string

	mu       sync.Mutex
	deadline time.Time
	over     bool // given back or lost for certain
}

// Release gives one acquire back. A lease that was given back is not sent again: that
// would give back the outer one.
func (l *hashLease) Release(ctx context.Context) error {
	if l.isOver() {
		return ErrNotHeld
	}
	_, err := hashReleaseScript.run(ctx, l.lock.env.Nodes[0], []string{l.key}, l.lock.holder)
	if errors.Is(err, redis.Nil) {
		err = ErrNotHeld
	}
	if err == nil || errors.Is(err, ErrNotHeld) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
	}
	return err
}

// Extend makes the lock last for ttl from now. The deadlines of other leases of the
// holder do not move with it.
func (l *hashLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := CheckInput(l.key, ttl); err != nil {
		return err
	}
	if l.isOver() {
		return ErrNotHeld
	}
	deadline := l.lock.env.Clock.Now().Add(ttl)
	extended, err := l.lock.extend.run(ctx, l.lock.env.Nodes[0], []string{l.key}, l.lock.holder, ttl.Milliseconds())
	if err == nil && extended == 0 {
		err = ErrNotHeld
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// After an indefinite error the earlier one counts, see extendableLease.
	if err == nil || Classify(err) == Indefinite && deadline.Before(l.deadline) {
		l.deadline = deadline
	}
	return err
}

func (l *hashLease) Token() int64 { return 0 }

func (l *hashLease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline
}

func (l *hashLease) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}
