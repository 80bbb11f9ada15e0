package locks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

func rwHashTimestampSpec() Spec {
	return Spec{
		Name:      "rw-hash-timestamp",
		Title:     "a hash with client times of a reader and a writer; HDEL if equal",
		Source:    "E 2",
		Masters:   1,
		ReadWrite: true,
		Breaks: map[string]string{
			"foreign release is refused":          "the release script answers nothing: every release says that it worked",
			"second release is refused":           "the release script answers nothing: every release says that it worked",
			"a reader's release keeps the others": "P42: the second reader overwrites the first one's timestamp, and removes it",
			"a reader's expiry frees the writer":  "the release script answers nothing: every release says that it worked",
			"a reader's expiry keeps the others":  "P64: each acquire sets the key's TTL anew",
		},
		New: newRWHashTimestamp,
	}
}

// newRWHashTimestamp returns the lock rw-hash-timestamp, an RWLocker: a hash with the
// fields read and write, which hold the client's time in milliseconds.
//
//	acquire read   a script: if write is absent or older than the time-out of a write,
//	               HSET key read now, PEXPIRE key milliseconds
//	acquire write  a script: if read and write are absent or older than their time-outs,
//	               HSET key write now, PEXPIRE key milliseconds
//	release        a script: if the field is the own time, HDEL it
//
// Source: E 2. Like there, the scripts of the release answer nothing: Release returns
// nil also when there was nothing left to release. The TTL of an acquire is its
// time-outs and the key's TTL; newRWHashTimestampWith sets them apart.
//
// Broken: the last reader's time replaces the others', so that its release lets a
// writer in while they read (P42). Two holders of one millisecond have the same token
// (P43). Whoever has a clock that is ahead sees live holds as ended (P44), and so does
// whoever comes with a shorter time-out (P65). Each acquire sets the key's TTL anew, also
// to less than a hold needs (P64). Readers that overlap keep a writer out for ever (P45).
func newRWHashTimestamp(env Env) Locker {
	return newRWHashTimestampWith(env, rwTimeouts{})
}

// rwTimeouts are what E's listing gives as constants: 10 s, 1 s and 3 s. Zero means the
// TTL of each acquire.
type rwTimeouts struct {
	Key   time.Duration // the TTL of the key
	Read  time.Duration // how long a read hold lasts, as the caller sees it
	Write time.Duration // how long a write hold lasts, as the caller sees it
}

// newRWHashTimestampWith is newRWHashTimestamp with time-outs of its own, in whole
// milliseconds. Deadline is by the time-out of the lease's kind.
func newRWHashTimestampWith(env Env, timeouts rwTimeouts) Locker {
	return &rwHashTimestamp{env, timeouts}
}

func rwHashTimestampFixedSpec() Spec {
	return Spec{
		Name:      "rw-hash-timestamp-fixed",
		Title:     "rw-hash-timestamp with the listing's time-outs: 10 s the key, 1 s a reader, 3 s a writer",
		Source:    "E 3",
		Masters:   1,
		Variant:   "rw-hash-timestamp",
		ReadWrite: true,
		Breaks: map[string]string{
			"foreign release is refused":          "the release script answers nothing: every release says that it worked",
			"second release is refused":           "the release script answers nothing: every release says that it worked",
			"a reader's release keeps the others": "P42: the second reader overwrites the first one's timestamp, and removes it",
			"a reader's expiry frees the writer":  "the TTL that is asked for is ignored: a reader has 1 s, a writer 3 s",
			"a reader's expiry keeps the others":  "the TTL that is asked for is ignored: a reader has 1 s, a writer 3 s",
			"interrupted acquire leaves nothing":  "the TTL that is asked for is ignored: a reader has 1 s, a writer 3 s",
			"expiry":                              "the TTL that is asked for is ignored: a reader has 1 s, a writer 3 s",
		},
		New: newRWHashTimestampFixed,
	}
}

// newRWHashTimestampFixed returns the lock rw-hash-timestamp-fixed: rw-hash-timestamp as E calls
// it from Java, with LOCK_KEY_TIMEOUT of 10 s, READ_TIMEOUT of 1 s and WRITE_TIMEOUT of 3 s.
//
//	acquire, release  as rw-hash-timestamp
//
// Source: E 3. The TTL that Acquire is given is ignored, as E's callers give none.
//
// Broken: as rw-hash-timestamp, but that all clients agree on the time-outs. Who asks for more than
// 1 s to read, or 3 s to write, gets less than it asked for.
func newRWHashTimestampFixed(env Env) Locker {
	return newRWHashTimestampWith(env, rwTimeouts{Key: 10 * time.Second, Read: time.Second, Write: 3 * time.Second})
}

type rwHashTimestamp struct {
	env      Env
	timeouts rwTimeouts
}

func (l *rwHashTimestamp) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.AcquireWrite(ctx, key, ttl)
}

func (l *rwHashTimestamp) AcquireRead(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, rwHashTimestampReadScript, rwHashTimestampReadReleaseScript, key, l.timeouts.Read, ttl)
}

func (l *rwHashTimestamp) AcquireWrite(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, rwHashTimestampWriteScript, rwHashTimestampWriteReleaseScript, key, l.timeouts.Write, ttl)
}

func (l *rwHashTimestamp) enter(
	ctx context.Context, enter, leave script, key string, own, ttl time.Duration,
) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	orTTL := func(d time.Duration) time.Duration {
		if d == 0 {
			return ttl
		}
		return d
	}
	node := l.env.Nodes[0]
	now := l.env.Clock.Now()
	entered, err := enter.run(ctx, node, []string{key}, orTTL(l.timeouts.Key).Milliseconds(),
		orTTL(l.timeouts.Read).Milliseconds(), orTTL(l.timeouts.Write).Milliseconds(), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	if entered == 0 {
		return nil, ErrTaken
	}
	return &rwHashTimestampLease{
		node: node, leave: leave, key: key, token: now.UnixMilli(), deadline: now.Add(orTTL(own)),
	}, nil
}

type rwHashTimestampLease struct {
	node     *redis.Client
	leave    script
	key      string
	token    int64 // milliseconds
	deadline time.Time
}

func (l *rwHashTimestampLease) Release(ctx context.Context) error {
	_, err := l.leave.run(ctx, l.node, []string{l.key}, l.token)
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

func (l *rwHashTimestampLease) Token() int64        { return 0 }
func (l *rwHashTimestampLease) Deadline() time.Time { return l.deadline }
