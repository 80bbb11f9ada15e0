package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func rwTwoKeySpec() Spec {
	return Spec{
		Name:      "rw-two-key",
		Title:     "a key for all readers, a key for the writer; DEL",
		Source:    "E 1",
		Masters:   1,
		ReadWrite: true,
		Keys:      func(key string) []string { return []string{key, readKey(key)} },
		Breaks: map[string]string{
			"foreign release is refused":          "P63: DEL takes the lock from the next writer",
			"readers and writers":                 "P40: the first reader's release is that of all",
			"a reader's release keeps the others": "P40: the first reader's release is that of all",
			"a reader's expiry keeps the others":  "P40: readers share a key, with the TTL of the last to come",
		},
		New: newRWTwoKey,
	}
}

// newRWTwoKey returns the lock rw-two-key, an RWLocker: one key for all readers,
// readKey(key), and key itself for the writer.
//
//	acquire read   a script: if key is absent, SET readKey(key) 1 EX seconds
//	acquire write  a script: if readKey(key) is absent, SET key 1 EX seconds NX
//	release        DEL of the reader's or the writer's key
//
// Source: E 1. It counts in whole seconds. A TTL that is no whole number of seconds is
// sent as PX milliseconds, which changes nothing about the flaws.
//
// Broken: readers share one key, so that the first to release lets a writer in while
// the others read (P40); a reader with a short TTL shortens the others' hold in the same
// way. DEL takes the lock from the next writer (P63). The two keys are in different
// slots of a Redis Cluster, which refuses the scripts (P41). Readers that overlap keep a
// writer out for ever (P45).
func newRWTwoKey(env Env) Locker { return &rwTwoKey{env} }

// readKey is the key that the readers of rw-two-key share on the lock key. Like the
// source's it has no hash tag.
func readKey(key string) string { return key + ":read" }

type rwTwoKey struct{ env Env }

func (l *rwTwoKey) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.AcquireWrite(ctx, key, ttl)
}

func (l *rwTwoKey) AcquireRead(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, rwTwoKeyReadScript, key, readKey(key), ttl)
}

func (l *rwTwoKey) AcquireWrite(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, rwTwoKeyWriteScript, key, key, ttl)
}

// enter acquires by a script that sets the key own.
func (l *rwTwoKey) enter(ctx context.Context, enter script, key, own string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	n, unit := ttl.Milliseconds(), "PX"
	if ttl%time.Second == 0 {
		n, unit = int64(ttl/time.Second), "EX"
	}
	node := l.env.Nodes[0]
	deadline := l.env.Clock.Now().Add(ttl) // before a byte is sent, see single.Acquire
	entered, err := enter.run(ctx, node, []string{readKey(key), key}, n, unit)
	if err != nil {
		return nil, err
	}
	if entered == 0 {
		return nil, ErrTaken
	}
	return &rwTwoKeyLease{node: node, key: own, deadline: deadline}, nil
}

type rwTwoKeyLease struct {
	node     *redis.Client
	key      string // the reader's or the writer's
	deadline time.Time
}

func (l *rwTwoKeyLease) Release(ctx context.Context) error { return del(ctx, l.node, l.key) }
func (l *rwTwoKeyLease) Token() int64                      { return 0 }
func (l *rwTwoKeyLease) Deadline() time.Time               { return l.deadline }
