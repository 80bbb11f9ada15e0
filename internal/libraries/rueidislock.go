package libraries

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockbench/lockbench/locks"
)

func rueidislockSpec() locks.Spec {
	return locks.Spec{
		Name:     "rueidislock",
		Title:    "script with SET NX PXAT by the client's clock, renewed by PEXPIREAT",
		Source:   "rueidislock v1.0.79",
		Masters:  1,
		Renews:   true,
		Promises: locks.Promises{WithoutTTL: true, DefaultTTL: rueidislockDefault},
		Keys:     func(key string) []string { return []string{RueidislockKey(key)} },
		Unseeded: "rueidislock draws its tokens from the machine's random source",
		Breaks: map[string]string{
			"foreign release is refused":   "P62: a release that the library tried says that it worked, while it has not noticed the loss",
			"deadline is not after expiry": "P37: the library tells no deadline",
			"renewal":                      "P37: the library tells no deadline",
			"loss is told in time":         "P37: a renewal is tried until half a TTL after the lease ended",
		},
		New: newRueidislock,
	}
}

// newRueidislock returns the lock rueidislock: github.com/redis/rueidis/rueidislock
// v1.0.79 with one key on one instance (KeyMajority 1), RueidislockKey(key).
//
//	acquire  a script: SET key token NX PXAT unix-milliseconds; GET key
//	renewal  every TTL/2, a script that does PEXPIREAT and GET if the value is the own token
//	release  a script that deletes key if its value is the own token
//
// A lease is Watched and has no deadline: it is renewed until it is released or lost.
// ErrNotLocked is ErrTaken, and a lease that the library has given up is ErrNotHeld. A
// release that the library tried is nil, whatever the server said: it does not tell.
//
// The clock, the tokens and the time-outs are the library's own: the client's clock does not
// count, and runs cannot be replayed byte for byte. The client has the library's default
// options, but neither client-side caching, which needs RESP3 push messages, nor the PING of
// idle connections. TryNextAfter, for how long an acquire is tried, is a twentieth of the
// TTL that was asked for, and its default of 20 ms at least: with that alone nobody acquires
// on a machine that is busy.
//
// Broken: a server whose clock is ahead by the TTL keeps no key, and everybody has the lock
// (P56). A renewal without an answer is waited for until TTL after it was sent, so that the
// holder hears of the loss half a TTL after the lease ended (P37). A SET whose reply was
// lost is sent again, meets its own key, and leaves it (P26). A release says true whatever the
// server answers (P37), or if it cannot be reached (P67).
//
// The lock is a Connector, and not safe for concurrent use. A lease must be released, or
// the lock closed: both end its renewal.
func newRueidislock(env locks.Env) locks.Locker {
	return adaptRueidislock(env, false)
}

func rueidislockPXSpec() locks.Spec {
	return locks.Spec{
		Name:     "rueidislock-px",
		Title:    "rueidislock with FallbackSETPX: SET NX PX, renewed by PEXPIREAT",
		Source:   "rueidislock v1.0.79",
		Masters:  1,
		Variant:  "rueidislock",
		Renews:   true,
		Promises: locks.Promises{WithoutTTL: true, DefaultTTL: rueidislockDefault},
		Keys:     func(key string) []string { return []string{RueidislockKey(key)} },
		Unseeded: "rueidislock draws its tokens from the machine's random source",
		Breaks: map[string]string{
			"foreign release is refused":   "P62: a release that the library tried says that it worked, while it has not noticed the loss",
			"deadline is not after expiry": "P37: the library tells no deadline",
			"renewal":                      "P37: the library tells no deadline",
			"loss is told in time":         "P37: a renewal is tried until half a TTL after the lease ended",
		},
		New: newRueidislockPX,
	}
}

// newRueidislockPX returns the lock rueidislock-px: rueidislock with FallbackSETPX. Its
// acquire sends PX milliseconds, the rest is that of newRueidislock.
//
// Broken as rueidislock: the first renewal brings the client's clock back in, and a server
// ahead of it drops the key of a holder that believes it has renewed (P56).
func newRueidislockPX(env locks.Env) locks.Locker {
	return adaptRueidislock(env, true)
}

// RueidislockKey is where rueidislock keeps the lock on key.
func RueidislockKey(key string) string { return "rueidislock:0:" + key }

// rueidisLock translates for rueidislock, whose lockers are for one TTL each.
type rueidisLock struct {
	env     locks.Env
	px      bool
	client  rueidis.Client // shared by all lockers; nil before the first call
	lockers map[time.Duration]rueidislock.Locker
}

func adaptRueidislock(env locks.Env, px bool) locks.Locker {
	return &rueidisLock{env: env, px: px, lockers: map[time.Duration]rueidislock.Locker{}}
}

// Connect sends PING.
func (r *rueidisLock) Connect(ctx context.Context) error {
	client, err := r.connected()
	if err != nil {
		return err
	}
	return client.Do(ctx, client.B().Ping().Build()).Error()
}

// Close gives up every lease that is still held, and closes the connection.
func (r *rueidisLock) Close() error {
	for _, locker := range r.lockers {
		locker.Close()
	}
	clear(r.lockers)
	if r.client != nil {
		r.client.Close()
		r.client = nil
	}
	return nil
}

func (r *rueidisLock) connected() (rueidis.Client, error) {
	if r.client != nil {
		return r.client, nil
	}
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"master"}, // env.Dial knows where that is
		DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return r.env.Dial(ctx, 0)
		},
		ForceSingleClient: true,
		PipelineMultiplex: -1, // one connection, as the library wants it
		AlwaysRESP2:       true,
		DisableCache:      true,
		ClientSetInfo:     rueidis.DisableClientSetInfo,
		// Commands are short, and every client of a run has a connection.
		ReadBufferEachConn:  4 << 10,
		WriteBufferEachConn: 4 << 10,
		RingScaleEachConn:   4,
		// No PING on connections that are idle.
		Dialer: net.Dialer{KeepAlive: -1},
		// The default's, without its jitter.
		RetryDelay: func(attempts int, _ rueidis.Completed, _ error) time.Duration {
			return min(time.Microsecond<<min(attempts, 20), time.Second)
		},
	})
	if client == nil { // one that could not connect yet is as good as any
		return nil, err
	}
	r.client = client
	return client, nil
}

// locker returns the library's locker for leases of ttl; 0: of the default.
func (r *rueidisLock) locker(ttl time.Duration) (rueidislock.Locker, error) {
	client, err := r.connected()
	if err != nil {
		return nil, err
	}
	if r.lockers[ttl] == nil {
		locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
			KeyValidity:   ttl,
			KeyMajority:   1,
			TryNextAfter:  max(ttl/20, rueidislockPatience),
			FallbackSETPX: r.px,
			ClientOption:  rueidis.ClientOption{DisableCache: true},
			ClientBuilder: func(rueidis.ClientOption) (rueidis.Client, error) { return sharedClient{client}, nil },
		})
		if err != nil {
			return nil, err
		}
		r.lockers[ttl] = locker
	}
	return r.lockers[ttl], nil
}

// sharedClient is a client that its lockers do not close.
type sharedClient struct{ rueidis.Client }

func (sharedClient) Close() {}

func (r *rueidisLock) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if err := locks.CheckInput(key, ttl); err != nil {
		return nil, err
	}
	return r.acquire(ctx, key, ttl, ttl)
}

// rueidislockPatience is for how long rueidislock tries to acquire a key, as it documents it.
const rueidislockPatience = 20 * time.Millisecond

// rueidislockDefault is the validity of a key that was given none, as rueidislock documents it.
const rueidislockDefault = 5 * time.Second

func (r *rueidisLock) AcquireDefault(ctx context.Context, key string) (locks.Lease, error) {
	return r.acquire(ctx, key, 0, rueidislockDefault)
}

// acquire takes the lock by a locker that was given a validity, 0 if none, and has one of ttl.
func (r *rueidisLock) acquire(ctx context.Context, key string, validity, ttl time.Duration) (locks.Lease, error) {
	locker, err := r.locker(validity)
	if err != nil {
		return nil, err
	}
	start := r.env.Clock.Now()
	// The library's lease ends with its context, ours does not end with the call's.
	holding, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(ctx, cancel)
	held, release, err := locker.TryWithContext(holding, key)
	inTime := unbind()
	switch {
	case err == nil && inTime:
		lease := &rueidisLease{release: release, lost: make(chan struct{})}
		lease.unwatch = context.AfterFunc(held, func() {
			cancel()
			close(lease.lost)
		})
		return lease, nil
	case err == nil:
		cancel() // and the library gives up the lease
		return nil, ctx.Err()
	}
	cancel()
	// The library says the same of a key that it got too late.
	if errors.Is(err, rueidislock.ErrNotLocked) && r.env.Clock.Now().Before(start.Add(ttl)) {
		return nil, locks.ErrTaken
	}
	return nil, err
}

// rueidisLease is a context of rueidislock.
type rueidisLease struct {
	release context.CancelFunc // deletes the key, without a word about the outcome
	lost    chan struct{}
	unwatch func() bool // false if the lease is lost or released
}

func (l *rueidisLease) Release(ctx context.Context) error {
	if !l.unwatch() {
		return locks.ErrNotHeld
	}
	released := make(chan struct{})
	go func() {
		l.release() // at most until the lease would have ended
		close(released)
	}()
	select {
	case <-released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *rueidisLease) Lost() <-chan struct{} { return l.lost }
func (l *rueidisLease) Token() int64          { return 0 }
func (l *rueidisLease) Deadline() time.Time   { return time.Time{} }
