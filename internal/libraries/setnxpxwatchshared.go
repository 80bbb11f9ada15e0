package libraries

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/lockbench/lockbench/locks"
)

func setNXPXWatchSharedSpec() locks.Spec {
	return locks.Spec{
		Name:       "setnx-px-watch-shared",
		Title:      "setnx-px-watch on one connection for all threads of a process",
		Source:     "A 3.1, A 4.2",
		Masters:    1,
		Variant:    "setnx-px-watch",
		HasToken:   true,
		PerProcess: true,
		Unseeded:   "the goroutines of rueidis take turns as the machine has it",
		New:        newSetNXPXWatchShared,
	}
}

// newSetNXPXWatchShared returns the lock setnx-px-watch-shared: setnx-px-watch whose threads
// share one connection.
//
//	acquire  SET key token NX PX milliseconds
//	release  WATCH key, GET key; if that answered the own token: MULTI, DEL key, EXEC; else
//	         UNWATCH
//
// The client is rueidis without its dedicated connections: it sends what each thread has to
// say as it comes, and gives each its answer, as Lettuce for Java does. That is safe for
// single commands. All threads of a process share one lock.
//
// Source: A 4.2, with the sharing that A 3.1 warns of. Adapter of github.com/redis/rueidis
// v1.0.79.
//
// Broken: WATCH and MULTI belong to the connection and not to the thread. The UNWATCH, or the
// EXEC, of one thread ends the watch of another, which then deletes a key that has become
// another client's; and what one thread sends between another's MULTI and EXEC is queued and
// answered "QUEUED" (P59).
//
// The lock is a Connector. It is safe for concurrent use as far as Go is concerned.
func newSetNXPXWatchShared(env locks.Env) locks.Locker { return &watchShared{env: env} }

type watchShared struct {
	env locks.Env

	mu     sync.Mutex // of client and of env.Rand
	client rueidis.Client
}

// Connect sends PING.
func (l *watchShared) Connect(ctx context.Context) error {
	client, err := l.connected()
	if err != nil {
		return err
	}
	return client.Do(ctx, client.B().Ping().Build()).Error()
}

// Close closes the connection.
func (l *watchShared) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil {
		l.client.Close()
		l.client = nil
	}
	return nil
}

func (l *watchShared) connected() (rueidis.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil {
		return l.client, nil
	}
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"master"}, // env.Dial knows where that is
		DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return l.env.Dial(ctx, 0)
		},
		ForceSingleClient: true,
		PipelineMultiplex: -1, // one connection
		AlwaysPipelining:  true,
		AlwaysRESP2:       true,
		DisableCache:      true,
		ClientSetInfo:     rueidis.DisableClientSetInfo,
		// Commands are short, and every client of a run has a connection.
		ReadBufferEachConn:  4 << 10,
		WriteBufferEachConn: 4 << 10,
		RingScaleEachConn:   4,
		// No PING on a connection that is idle.
		Dialer: net.Dialer{KeepAlive: -1},
	})
	if client == nil { // one that could not connect yet is as good as any
		return nil, err
	}
	l.client = client
	return client, nil
}

func (l *watchShared) draw() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return locks.NewToken(l.env.Rand)
}

// do sends one command on the connection that all share. The library sends those that
// change no key again if the connection is found broken.
func (l *watchShared) do(ctx context.Context, args ...string) (rueidis.RedisMessage, error) {
	client, err := l.connected()
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	arbitrary := client.B().Arbitrary(args...)
	command := arbitrary.Build
	if args[0] == "WATCH" || args[0] == "GET" {
		command = arbitrary.ReadOnly
	}
	// Pinned: the library uses a command again as soon as the call has ended, though its
	// writer may not be done with one whose context has.
	return client.Do(ctx, command().Pin()).ToMessage()
}

func (l *watchShared) Acquire(ctx context.Context, key string, ttl time.Duration) (locks.Lease, error) {
	if err := locks.CheckInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := l.draw()
	if err != nil {
		return nil, err
	}
	deadline := l.env.Clock.Now().Add(ttl) // read before a byte is sent: the server counts from later on
	reply, err := l.do(ctx, "SET", key, token, "NX", "PX", fmt.Sprint(ttl.Milliseconds()))
	if rueidis.IsRedisNil(err) {
		return nil, locks.ErrTaken
	}
	if err != nil {
		return nil, err
	}
	if text, err := reply.ToString(); err != nil {
		return nil, err
	} else if text != "OK" {
		return nil, fmt.Errorf("SET answered %q, want OK or nil", text)
	}
	return &watchSharedLease{lock: l, key: key, token: token, deadline: deadline}, nil
}

// errOvertaken says that the key changed between WATCH and EXEC.
var errOvertaken = errors.New("the key changed while it was watched")

type watchSharedLease struct {
	lock       *watchShared
	key, token string
	deadline   time.Time
}

func (l *watchSharedLease) Release(ctx context.Context) error {
	for {
		err := l.tryRelease(ctx)
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
}

func (l *watchSharedLease) tryRelease(ctx context.Context) error {
	if _, err := l.lock.do(ctx, "WATCH", l.key); err != nil {
		return err
	}
	if err := l.Verify(ctx); err != nil {
		_, _ = l.lock.do(ctx, "UNWATCH")
		return err
	}
	if _, err := l.lock.do(ctx, "MULTI"); err != nil {
		return err
	}
	if _, err := l.lock.do(ctx, "DEL", l.key); err != nil {
		return err
	}
	reply, err := l.lock.do(ctx, "EXEC")
	if rueidis.IsRedisNil(err) {
		return errOvertaken
	}
	if err != nil {
		return err
	}
	removed, err := reply.AsIntSlice()
	switch {
	case err != nil || len(removed) != 1:
		return fmt.Errorf("EXEC answered %v, want the one answer to DEL", removed)
	case removed[0] == 0:
		return locks.ErrNotHeld
	case removed[0] == 1:
		return nil
	default:
		return fmt.Errorf("release removed %d keys, want 0 or 1", removed[0])
	}
}

func (l *watchSharedLease) Verify(ctx context.Context) error {
	reply, err := l.lock.do(ctx, "GET", l.key)
	if rueidis.IsRedisNil(err) {
		return locks.ErrNotHeld
	}
	if err != nil {
		return err
	}
	switch value, err := reply.ToString(); {
	case err != nil:
		return err
	case value != l.token:
		return locks.ErrNotHeld
	}
	return nil
}

func (l *watchSharedLease) Token() int64        { return 0 }
func (l *watchSharedLease) Deadline() time.Time { return l.deadline }
