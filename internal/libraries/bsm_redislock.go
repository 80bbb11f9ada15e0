package libraries

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/bsm/redislock"

	"github.com/lockbench/lockbench/locks"
)

func bsmRedislockSpec() locks.Spec {
	return locks.Spec{
		Name:       "bsm-redislock",
		Title:      "redislock with random tokens: one script acquires or takes its own key over",
		Source:     "bsm/redislock v0.9.4",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Extends:    true,
		HasToken:   true,
		Promises:   locks.Promises{Once: true},
		New:        newBSMRedislock,
	}
}

// newBSMRedislock returns the lock bsm-redislock: github.com/bsm/redislock v0.9.4 with
// random tokens.
//
//	acquire  a script: SET key token NX PX milliseconds; if that is refused and the first
//	         bytes of the value are the own token: SET key token PX milliseconds
//	release  a script that deletes key if its value is the own token
//	extend   a script that sets the TTL if the value is the own token
//	verify   a script that answers PTTL if the value is the own token
//
// ErrNotObtained is ErrTaken, or ErrNotHeld from extend. ErrLockNotHeld is ErrNotHeld.
// Everything else is indefinite.
//
// Sound under the assumptions of setnx-px-lua. The second half of acquire makes it safe to
// send again: an acquire that lost its reply takes its own key over (P26).
func newBSMRedislock(env locks.Env) locks.Locker {
	return &bsmRedislock{
		env:     env,
		library: redislock.New(env.Nodes[0]),
		// The library's own tokens are the same, from a source that no seed decides about.
		token: func() (string, error) { return base64Token(base64.RawURLEncoding, env.Rand) },
	}
}

func bsmRedislockResendSpec() locks.Spec {
	return locks.Spec{
		Name:       "bsm-redislock-resend",
		Title:      "bsm-redislock whose client sends a command again if its reply gets lost",
		Source:     "bsm/redislock v0.9.4",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "bsm-redislock",
		Extends:    true,
		HasToken:   true,
		Promises:   locks.Promises{Once: true},
		New:        newBSMRedislockResend,
	}
}

// newBSMRedislockResend returns the lock bsm-redislock-resend: bsm-redislock over a go-redis
// client of default options, as most users of the library have it. Its commands are those of
// newBSMRedislock, each sent again, up to three times, if the connection breaks.
//
// Sound under the assumptions of setnx-px-lua: an acquire that meets its own key takes it
// over (P26). A release that is sent again answers ErrNotHeld of a key that it has deleted.
//
// The lock is a Connector.
func newBSMRedislockResend(env locks.Env) locks.Locker {
	return locks.OverDefaultClients(env, true, newBSMRedislock)
}

func bsmRedislockCustomTokenSpec() locks.Spec {
	return locks.Spec{
		Name:       "bsm-redislock-custom-token",
		Title:      "redislock with the client's name as its token",
		Source:     "bsm/redislock v0.9.4",
		Masters:    1,
		Variant:    "bsm-redislock",
		Extends:    true,
		ClientName: workerName,
		Breaks: map[string]string{
			"mutual exclusion": "P55: worker-1 takes over the key of worker-12",
			"refusal":          "P55: worker-1 takes over the key of worker-12",
			"no re-entry":      "P55: an acquire takes over every key that begins with its token, its own too",
			"extend":           "P55: worker-1 takes over the key of worker-12",
		},
		New: newBSMRedislockCustomToken,
	}
}

// newBSMRedislockCustomToken returns the lock bsm-redislock-custom-token: newBSMRedislock
// with the client's name as the token of all its attempts, which the option Token is for.
//
// Broken: the script compares as many bytes as the new token has. A client whose name is
// the beginning of the holder's takes the lock over: worker-1 from worker-12 (P55). And a
// client that acquires twice has the lock twice.
func newBSMRedislockCustomToken(env locks.Env) locks.Locker {
	return &bsmRedislock{
		env:     env,
		library: redislock.New(env.Nodes[0]),
		token: func() (string, error) {
			if env.Client == "" { // the library would draw a random one
				return "", errors.New("bsm-redislock-custom-token needs a client with a name, got none")
			}
			return env.Client, nil
		},
	}
}

// workerName is what users of custom tokens call their clients: worker-12, worker-1, and
// then worker-2 and up. The first client's name begins like the second's.
func workerName(client int) string {
	number := client
	switch {
	case client == 0:
		number = 12
	case client >= 12:
		number = client + 1
	}
	return "worker-" + strconv.Itoa(number)
}

// bsmRedislock translates for redislock.
type bsmRedislock struct {
	env     locks.Env
	library *redislock.Client
	token   func() (string, error)
}

func (r *bsmRedislock) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if err := locks.CheckInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	deadline := r.env.Clock.Now().Add(ttl) // read before a byte is sent: the server counts from later on
	lock, err := r.library.Obtain(ctx, key, ttl, &redislock.Options{
		RetryStrategy: redislock.NoRetry(),
		Token:         token,
	})
	switch {
	case errors.Is(err, redislock.ErrNotObtained):
		return nil, locks.ErrTaken
	case err != nil:
		return nil, err
	default:
		return &bsmLease{clock: r.env.Clock, lock: lock, deadline: deadline}, nil
	}
}

// bsmLease is a lock that redislock has obtained.
type bsmLease struct {
	clock    locks.Clock
	lock     *redislock.Lock
	deadline time.Time
}

func (l *bsmLease) Release(ctx context.Context) error {
	err := l.lock.Release(ctx)
	if errors.Is(err, redislock.ErrLockNotHeld) {
		return locks.ErrNotHeld
	}
	return err
}

func (l *bsmLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := locks.CheckInput(l.lock.Key(), ttl); err != nil {
		return err
	}
	deadline := l.clock.Now().Add(ttl)
	switch err := l.lock.Refresh(ctx, ttl, nil); {
	case errors.Is(err, redislock.ErrNotObtained):
		return locks.ErrNotHeld
	case err != nil:
		return err
	default:
		l.deadline = deadline
		return nil
	}
}

func (l *bsmLease) Verify(ctx context.Context) error {
	switch left, err := l.lock.TTL(ctx); {
	case err != nil:
		return err
	case left == 0:
		return locks.ErrNotHeld
	default:
		return nil
	}
}

func (l *bsmLease) Token() int64        { return 0 }
func (l *bsmLease) Deadline() time.Time { return l.deadline }
