package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

func fairQueueSpec() Spec {
	return Spec{
		Name:       "fair-queue",
		Title:      "setnx-px-lua with a queue of those that wait; script",
		Source:     "Redisson fair lock",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		HasToken:   true,
		Waits:      true,
		Promises:   Promises{Fair: true},
		New:        newFairQueue,
	}
}

// newFairQueue returns the lock fair-queue, which serves those that wait in the order in which
// they came. It is Patient, and promises to be fair.
//
//	acquire  a script: if key is absent and nobody waits, SET key token PX milliseconds
//	await    the same, again and again, a quarter of the TTL apart; the script keeps the
//	         waiter's place in queueKey(key), a sorted set, and lets in who is first
//	release  a script that deletes key if its value is the own token
//
// A place is kept for as long as its waiter goes on asking: one that has not asked for a TTL,
// by the server's clock, has lost it. queueKey(key)+":seen" has when each asked last. An acquire
// that tries once takes no place, and is refused while anybody waits.
//
// Source: Redisson's fair lock, with polling for its messages.
//
// Sound under the assumptions of setnx-px-lua.
func newFairQueue(env Env) Locker { return &fairQueue{newSetNXPX(env, compareAndDelete), fairQueueLua} }

func fairQueueBargingSpec() Spec {
	return Spec{
		Name:     "fair-queue-barging",
		Title:    "fair-queue that lets in who finds the lock free",
		Source:   "mutant of fair-queue",
		Masters:  1,
		Variant:  "fair-queue",
		HasToken: true,
		Waits:    true,
		Promises: Promises{Fair: true},
		New:      newFairQueueBarging,
	}
}

// newFairQueueBarging returns the lock fair-queue-barging: fair-queue whose script looks at
// the queue only if it does not find the lock free.
//
// Broken: a client that comes while others wait is let in if it comes at the right moment, and
// one that releases and acquires always does (P84).
func newFairQueueBarging(env Env) Locker {
	return &fairQueue{newSetNXPX(env, compareAndDelete), fairQueueBargingLua}
}

type fairQueue struct {
	*single
	lua string
}

// queueKey is where fair-queue keeps who waits for the lock on key.
func queueKey(key string) string {
	if strings.Contains(key, "}") {
		return key + ":queue"
	}
	return "{" + key + "}:queue"
}

func (l *fairQueue) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.try(ctx, key, ttl, "")
}

func (l *fairQueue) Await(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	place, err := NewToken(l.env.Rand)
	if err != nil {
		return nil, err
	}
	for {
		lease, err := l.try(ctx, key, ttl, place)
		if !errors.Is(err, ErrTaken) {
			return lease, err
		}
		if err := l.env.Clock.Sleep(ctx, ttl/4); err != nil {
			return nil, fmt.Errorf("%w, and the wait for it was ended: %w", ErrTaken, err)
		}
	}
}

// try tries once. An empty place is none.
func (l *fairQueue) try(ctx context.Context, key string, ttl time.Duration, place string) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := NewToken(l.env.Rand)
	if err != nil {
		return nil, err
	}
	lease := &singleLease{lock: l.single, key: key, token: token}
	lease.deadline = lease.from(ttl) // before a byte is sent, see single.Acquire
	queue := queueKey(key)
	entered, err := l.env.Nodes[0].Eval(ctx, l.lua, []string{key, queue, queue + ":seen"}, token, ttl.Milliseconds(), place).Int64()
	switch {
	case err != nil:
		return nil, err
	case entered == 0:
		return nil, ErrTaken
	}
	return lease, nil
}

// The scripts of fair-queue answer 1, or 0 if the lock is taken or others come first.
//
//	KEYS[1] the lock                    ARGV[1] the holder's token
//	KEYS[2] when each came who waits    ARGV[2] the TTL in milliseconds
//	KEYS[3] when each asked last        ARGV[3] the waiter's place, or empty
const (
	fairQueueLua        = queueLua + "local free = redis.call('EXISTS', KEYS[1]) == 0 and (not first or first == ARGV[3])\n" + queueEnterLua
	fairQueueBargingLua = queueLua + "local free = redis.call('EXISTS', KEYS[1]) == 0\n" + queueEnterLua

	queueLua = `local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now - ARGV[2] * 1000)) do
  redis.call('ZREM', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
`
	queueEnterLua = `if free then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  redis.call('ZREM', KEYS[2], ARGV[3])
  redis.call('ZREM', KEYS[3], ARGV[3])
  return 1
end
if ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[2], 'NX', now, ARGV[3])
  redis.call('ZADD', KEYS[3], now, ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('PEXPIRE', KEYS[3], ARGV[2])
end
return 0
`
)
