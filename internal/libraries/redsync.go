package libraries

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/lockbench/lockbench/locks"
)

func redsyncSpec() locks.Spec {
	return locks.Spec{
		Name:     "redsync",
		Title:    "redsync with go-redis clients of default options",
		Source:   "redsync v4.18.1",
		Masters:  5,
		Extends:  true,
		HasToken: true,
		Promises: locks.Promises{ReleasesRefused: true, WithoutTTL: true, DefaultTTL: redsyncDefault},
		New:      newRedsync,
	}
}

// newRedsync returns the lock redsync: github.com/go-redsync/redsync/v4 v4.18.1 over
// N = len(env.Nodes) independent masters, with go-redis clients of default options.
//
//	acquire  on all nodes at once: SET key token NX and EX seconds or PX milliseconds;
//	         without a majority in time, the release on all nodes
//	release  on all nodes at once: a script that deletes key if its value is the own token
//	extend   on all nodes at once: a script that sets the TTL if the value is the own token
//
// redsync's ErrTaken is ErrTaken. A release, extend or verify is ErrNotHeld if a majority
// of nodes said no. Everything else is indefinite, also redsync's ErrFailed: it stands for
// an acquire that took too long and hides a cancelled one. A lease ends TTL − 1 % after
// the call began, which is redsync's Until by the client's clock.
//
// The library has its own time-outs from the machine's clock, 5 % of the TTL for a node.
//
// Broken: the clients do not look at that time-out. One master that hangs makes every
// acquire take 5 s or more, and a lease that is not longer than that is never got (P25).
//
// The lock is a Connector.
func newRedsync(env locks.Env) locks.Locker {
	return redsyncWithClients(env, false)
}

func redsyncContextTimeoutSpec() locks.Spec {
	return locks.Spec{
		Name:       "redsync-context-timeout",
		Title:      "redsync with ContextTimeoutEnabled",
		Source:     "redsync v4.18.1",
		Sound:      true,
		Assumption: "a majority of masters keep their keys and their clocks, and the holder stops before its deadline",
		Masters:    5,
		Variant:    "redsync",
		Extends:    true,
		HasToken:   true,
		Promises:   locks.Promises{ReleasesRefused: true, WithoutTTL: true, DefaultTTL: redsyncDefault},
		New:        newRedsyncContextTimeout,
	}
}

// newRedsyncContextTimeout returns the lock redsync-context-timeout: redsync with clients
// of default options but for ContextTimeoutEnabled. The commands are those of newRedsync.
//
// Sound under the assumptions of redlock. A caller that gives up during an acquire leaves
// keys behind for a TTL: the clean-up has the same context. The lock is a Connector.
func newRedsyncContextTimeout(env locks.Env) locks.Locker {
	return redsyncWithClients(env, true)
}

func redsyncFailFastSpec() locks.Spec {
	return locks.Spec{
		Name:     "redsync-fail-fast",
		Title:    "redsync with WithFailFast: the first majority decides",
		Source:   "redsync v4.18.1",
		Masters:  5,
		Variant:  "redsync",
		Extends:  true,
		HasToken: true,
		Promises: locks.Promises{ReleasesRefused: true, WithoutTTL: true, DefaultTTL: redsyncDefault},
		New:      newRedsyncFailFast,
	}
}

// newRedsyncFailFast returns the lock redsync-fail-fast: redsync with WithFailFast, over
// env.Nodes. The commands are those of newRedsync, but calls return when a majority has
// answered. The others go on in the background.
//
// Broken: a SET that is still on its way when acquire returns may land after the release
// has come and gone on that node, and stays for a TTL (P27). Under load such orphans
// collect, also those of acquires that failed, until nobody gets a majority.
func newRedsyncFailFast(env locks.Env) locks.Locker {
	return adaptRedsync(env, redsync.WithFailFast(true))
}

func redsyncSetNXOnExtendSpec() locks.Spec {
	return locks.Spec{
		Name:     "redsync-setnx-on-extend",
		Title:    "redsync with WithSetNXOnExtend: extend sets a key that is gone",
		Source:   "redsync v4.18.1",
		Masters:  5,
		Variant:  "redsync",
		Extends:  true,
		HasToken: true,
		Promises: locks.Promises{ReleasesRefused: true, WithoutTTL: true, DefaultTTL: redsyncDefault},
		Breaks: map[string]string{
			"extend after expiry is refused": "P68: extend sets a key that is gone",
		},
		New: newRedsyncSetNXOnExtend,
	}
}

// newRedsyncSetNXOnExtend returns the lock redsync-setnx-on-extend: redsync with
// WithSetNXOnExtend, over env.Nodes. The commands are those of newRedsync, but the script
// of extend also sets a key that is gone.
//
// Broken: extend brings a lost lease back, and says that it was held all the time, even if
// somebody else has had the lock in between. An extend that arrives after the release
// takes the lock again (P68).
func newRedsyncSetNXOnExtend(env locks.Env) locks.Locker {
	return adaptRedsync(env, redsync.WithSetNXOnExtend())
}

// redsyncLock translates for redsync.
type redsyncLock struct {
	env     locks.Env
	library *redsync.Redsync
	nodes   int
	options []redsync.Option
}

// adaptRedsync is redsync over env.Nodes.
func adaptRedsync(env locks.Env, options ...redsync.Option) locks.Locker {
	pools := make([]redsyncredis.Pool, len(env.Nodes))
	for i, client := range env.Nodes {
		pools[i] = goredis.NewPool(client)
	}
	return &redsyncLock{env: env, library: redsync.New(pools...), nodes: len(pools), options: options}
}

// redsyncWithClients is redsync with connections of its own.
func redsyncWithClients(env locks.Env, contextTimeout bool) locks.Locker {
	return locks.OverDefaultClients(env, contextTimeout, func(env locks.Env) locks.Locker { return adaptRedsync(env) })
}

func (r *redsyncLock) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	return r.acquire(ctx, key, ttl, redsync.WithExpiry(ttl))
}

// redsyncDefault is the expiry of a mutex that was given none, as redsync documents it.
const redsyncDefault = 8 * time.Second

func (r *redsyncLock) AcquireDefault(ctx context.Context, key string) (locks.Lease, error) {
	return r.acquire(ctx, key, redsyncDefault)
}

// acquire takes the lock by a mutex with these options, whose expiry is ttl.
func (r *redsyncLock) acquire(ctx context.Context, key string, ttl time.Duration, options ...redsync.Option) (locks.Lease, error) {
	if err := locks.CheckInput(key, ttl); err != nil {
		return nil, err
	}
	mutex := r.mutex(key, append(options,
		redsync.WithTries(1),
		// The library's own tokens are the same, from a source that no seed decides about.
		redsync.WithGenValueFunc(func() (string, error) { return base64Token(base64.StdEncoding, r.env.Rand) }),
	)...)
	lease := &redsyncLease{lock: r, mutex: mutex, deadline: r.deadline(ttl)}
	err := mutex.LockContext(ctx)
	var taken *redsync.ErrTaken
	switch {
	case err == nil:
		return lease, nil
	case errors.As(err, &taken):
		return nil, &locks.RefusedError{Lease: lease, Err: locks.ErrTaken}
	default:
		return nil, sorted(err)
	}
}

// mutex is redsync's mutex with the options of the lock, and more.
func (r *redsyncLock) mutex(key string, more ...redsync.Option) *redsync.Mutex {
	return r.library.NewMutex(key, append(slices.Clone(r.options), more...)...)
}

// deadline is the end of a lease of ttl that begins now.
func (r *redsyncLock) deadline(ttl time.Duration) time.Time {
	return r.env.Clock.Now().Add(ttl - ttl/100)
}

// redsyncLease is a mutex of redsync, which is one attempt.
type redsyncLease struct {
	lock     *redsyncLock
	mutex    *redsync.Mutex
	deadline time.Time
}

func (l *redsyncLease) Release(ctx context.Context) error {
	return l.decide(l.mutex.UnlockContext(ctx))
}

func (l *redsyncLease) Verify(ctx context.Context) error {
	return l.decide(l.mutex.ValidContext(ctx)) //nolint:staticcheck // Until, which replaces it, asks no server.
}

func (l *redsyncLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := locks.CheckInput(l.mutex.Name(), ttl); err != nil {
		return err
	}
	// Another mutex with the same token: with WithFailFast, an acquire that is still under
	// way on some nodes reads the expiry of its own.
	longer := l.lock.mutex(l.mutex.Name(), redsync.WithExpiry(ttl), redsync.WithValue(l.mutex.Value()))
	deadline := l.lock.deadline(ttl)
	if err := l.decide(longer.ExtendContext(ctx)); err != nil {
		return err
	}
	l.deadline = deadline
	return nil
}

func (l *redsyncLease) Token() int64        { return 0 }
func (l *redsyncLease) Deadline() time.Time { return l.deadline }

// decide turns an answer of redsync into nil, ErrNotHeld, or an indefinite error.
func (l *redsyncLease) decide(ok bool, err error) error {
	switch {
	case ok:
		return nil
	case refusals(err) > l.lock.nodes/2:
		return locks.ErrNotHeld
	default:
		return sorted(err)
	}
}

// refusals is the number of nodes that certainly said no.
func refusals(err error) int {
	var majority *redsync.ErrTaken
	if errors.As(err, &majority) {
		return len(majority.Nodes)
	}
	n := 0
	for _, answer := range split(err) {
		var node *redsync.ErrNodeTaken
		if errors.As(answer, &node) || errors.Is(answer, redsync.ErrLockAlreadyExpired) {
			n++
		}
	}
	return n
}

// split returns the nodes' errors in a joined one.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, split(one)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// sorted joins the nodes' errors again, in an order that does not depend on who was first.
func sorted(err error) error {
	all := split(err)
	slices.SortStableFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(all...)
}

// base64Token returns a value that no other attempt has: 16 random bytes in base64.
func base64Token(encoding *base64.Encoding, random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random token: %w", err)
	}
	return encoding.EncodeToString(b[:]), nil
}
