package locks

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

func reentrantHashOnceSpec() Spec {
	return Spec{
		Name:       "reentrant-hash-once",
		Title:      "reentrant-hash-keep that counts a request once, however often it is sent",
		Source:     "C, repaired",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "reentrant-hash",
		Extends:    true,
		Reenters:   true,
		Promises:   Promises{NeverShortens: true, Once: true},
		New:        newReentrantHashOnce,
	}
}

// newReentrantHashOnce returns the lock reentrant-hash-once: reentrant-hash-keep whose
// acquires are counted once, however often they are sent.
//
//	acquire  a script: if key is absent or has the holder's field: unless it has a field of
//	         this request, set one and HINCRBY 1; PEXPIRE if PTTL is less
//	release  a script: nil without the request's field; HDEL of it, HINCRBY -1; at 0: DEL
//	extend   as reentrant-hash-keep
//
// Source: the repair of C for P33 (redisson#7367): an id per request.
//
// A request is the holder and a number. A release gives back its own
// acquire and no other, so one that comes too late takes nothing from a later hold of the
// same thread; one that is sent twice is refused the second time.
//
// Sound under the assumptions of setnx-px-lua.
func newReentrantHashOnce(env Env) Locker {
	return &reentrantHashOnce{
		reentrantHash: &reentrantHash{env: env, holder: holderID(env), extend: hashExtendKeepScript},
	}
}

type reentrantHashOnce struct {
	*reentrantHash
	requests atomic.Int64
}

func (r *reentrantHashOnce) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	request := fmt.Sprintf("%s#%d", r.holder, r.requests.Add(1))
	// Read before a byte is sent, see single.Acquire.
	deadline := r.env.Clock.Now().Add(ttl)
	got, err := hashAcquireOnceScript.run(ctx, r.env.Nodes[0], []string{key}, r.holder, ttl.Milliseconds(), request)
	if err != nil {
		return nil, err
	}
	if got == 0 {
		return nil, ErrTaken
	}
	return &onceLease{hashLease: &hashLease{lock: r.reentrantHash, key: key, deadline: deadline}, request: request}, nil
}

// onceLease is one acquire or re-entry. It is safe for concurrent use.
type onceLease struct {
	*hashLease
	request string
}

// Release gives one acquire back. After an error that leaves the outcome open it can be
// called again.
func (l *onceLease) Release(ctx context.Context) error {
	_, err := hashReleaseOnceScript.run(ctx, l.lock.env.Nodes[0], []string{l.key}, l.lock.holder, l.request)
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
