package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

func setNXPXWatchSessionSpec() Spec {
	return Spec{
		Name:     "setnx-px-watch-session",
		Title:    "SET NX PX in a loop; WATCH before the section; GET, MULTI, DEL, EXEC, UNWATCH; one connection for all",
		Source:   "A 2.3",
		Masters:  1,
		Variant:  "setnx-px-watch",
		Waits:    true,
		HasToken: true,
		Breaks:   sessionBreaks(),
		New:      newSetNXPXWatchSession,
	}
}

// sessionBreaks are the clauses that A's programs break, which do not look at what their release is answered.
func sessionBreaks() map[string]string {
	return map[string]string{
		"foreign release is refused": "P62: a release says that it worked, whatever Redis answers",
		"second release is refused":  "P62: the connection is closed",
	}
}

// newSetNXPXWatchSession returns the lock setnx-px-watch-session.
//
//	acquire  on a connection of its own: SET key token NX PX milliseconds; WATCH key
//	await    the same, SET again and again
//	release  on that connection: GET key; if that answered the own token: MULTI, DEL key,
//	         EXEC; UNWATCH
//
// Source: A 2.3, the first program: new Jedis, a loop, WATCH, the section, and the release. WATCH stands before
// the section, so that EXEC refuses whatever has come over the key since the lock was had.
//
// Broken: what EXEC answers is not looked at, so that a release that deleted nothing says nothing (P62); of a
// key that has gone GET answers nil, and equals throws, which leaves the outcome open. A waiter costs
// Redis as many commands as a connection can carry (P47).
//
// The lock is an io.Closer: Close closes the connections of leases that nobody gave back.
func newSetNXPXWatchSession(env Env) Locker {
	return newSessions(env, func(ctx context.Context, conn connection, key string) error {
		return conn.Do(ctx, "WATCH", key).Err()
	}, func(ctx context.Context, conn connection, key, token string) error {
		value, err := conn.Get(ctx, key).Result()
		if err != nil {
			return err // redis.Nil too: equals throws
		}
		if value == token {
			if _, err := execDel(ctx, conn, key); err != nil && !errors.Is(err, redis.TxFailedErr) {
				return err
			}
		}
		return conn.Do(ctx, "UNWATCH").Err()
	})
}

func setNXPXLuaSessionSpec() Spec {
	return Spec{
		Name:     "setnx-px-lua-session",
		Title:    "SET NX PX in a loop; compare-and-delete script whose answer is dropped; one connection for all",
		Source:   "A 2.3",
		Masters:  1,
		Variant:  "setnx-px-lua",
		Waits:    true,
		HasToken: true,
		Breaks:   sessionBreaks(),
		New:      newSetNXPXLuaSession,
	}
}

// newSetNXPXLuaSession returns the lock setnx-px-lua-session.
//
//	acquire  on a connection of its own: SET key token NX PX milliseconds
//	await    the same, again and again
//	release  on that connection: a script that deletes key if its value is the own token
//
// Source: A 2.3, the second program.
//
// Broken: what the script answers is not looked at, so that a release that deleted nothing says nothing (P62). A
// waiter costs Redis as many commands as a connection can carry (P47).
//
// The lock is an io.Closer: Close closes the connections of leases that nobody gave back.
func newSetNXPXLuaSession(env Env) Locker {
	return newSessions(env, nil, func(ctx context.Context, conn connection, key, token string) error {
		_, err := compareAndDeleteScript.run(ctx, conn, []string{key}, token)
		return err
	})
}

func newSessions(env Env, granted func(context.Context, connection, string) error,
	release func(context.Context, connection, string, string) error,
) Locker {
	return &sessions{env: env, granted: granted, release: release, open: map[*redis.Client]bool{}}
}

// sessions is a lock each of whose leases has a connection of its own, from its acquire to its release.
type sessions struct {
	env     Env
	granted func(ctx context.Context, conn connection, key string) error // nil: nothing
	release func(ctx context.Context, conn connection, key, token string) error

	mu   sync.Mutex
	open map[*redis.Client]bool // all connections
	idle []*redis.Client        // those whose program was refused, and goes on with the next acquire
}

func (s *sessions) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return s.acquire(ctx, key, ttl, false)
}

func (s *sessions) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return s.acquire(ctx, key, ttl, true)
}

func (s *sessions) acquire(ctx context.Context, key string, ttl time.Duration, again bool) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := NewToken(s.env.Rand)
	if err != nil {
		return nil, err
	}
	lease := s.connect(key, token)
	err = lease.set(ctx, ttl, again)
	switch {
	case errors.Is(err, ErrTaken):
		lease.wait()
		return nil, err
	case err != nil:
		lease.close() // the program has ended
		return nil, err
	}
	return lease, nil
}

// connect is new Jedis, or goes on with one whose program was refused.
func (s *sessions) connect(key, token string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var client *redis.Client
	if last := len(s.idle) - 1; last >= 0 {
		client, s.idle = s.idle[last], s.idle[:last]
	} else {
		opt := *s.env.Nodes[0].Options()
		client = redis.NewClient(&opt)
		s.open[client] = true
	}
	return &session{lock: s, client: client, conn: connection{client.Conn()}, key: key, token: token}
}

// Close closes what is open.
func (s *sessions) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for client := range s.open {
		errs = append(errs, client.Close())
	}
	clear(s.open)
	s.idle = nil
	return errors.Join(errs...)
}

// session is one lease, and its connection.
type session struct {
	lock       *sessions
	client     *redis.Client
	conn       connection
	key, token string
	deadline   time.Time
}

// set tries once, or until it has the lock.
func (s *session) set(ctx context.Context, ttl time.Duration, again bool) error {
	for {
		s.deadline = s.lock.env.Clock.Now().Add(ttl) // before a byte is sent, see single.Acquire
		err := setNXPX(ctx, s.conn, s.key, s.token, ttl)
		switch {
		case err == nil && s.lock.granted != nil:
			return s.lock.granted(ctx, s.conn, s.key)
		case !errors.Is(err, ErrTaken) || !again:
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("%w, and the wait for it was ended: %w", ErrTaken, context.Cause(ctx))
		}
	}
}

// wait keeps the connection for the next acquire.
func (s *session) wait() {
	_ = s.conn.Close() // it goes back to its client, which has no other
	s.lock.mu.Lock()
	defer s.lock.mu.Unlock()
	s.lock.idle = append(s.lock.idle, s.client)
}

func (s *session) close() {
	s.lock.mu.Lock()
	delete(s.lock.open, s.client)
	s.lock.mu.Unlock()
	_ = s.conn.Close() // nothing depends on it
	_ = s.client.Close()
}

// Release ends the session. A second one finds the connection closed.
func (s *session) Release(ctx context.Context) error {
	defer s.close()
	return s.lock.release(ctx, s.conn, s.key, s.token)
}

func (s *session) Verify(ctx context.Context) error {
	return verify(ctx, s.lock.env.Nodes[0], s.key, s.token)
}

func (s *session) Token() int64        { return 0 }
func (s *session) Deadline() time.Time { return s.deadline }
