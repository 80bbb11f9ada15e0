package locks

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// redissonTimeout is how long Redisson waits for an answer by default.
const redissonTimeout = 3 * time.Second

func redissonRedLockSpec() Spec {
	return Spec{
		Name:     "redisson-redlock",
		Title:    "RedissonRedLock: Redisson's lock on a majority of masters, one after the other",
		Source:   "D (RedissonRedLock)",
		Masters:  5,
		Reenters: true,
		Breaks: map[string]string{
			"re-entry":                           "P62: a release says that it worked, whatever the nodes answer",
			"foreign release is refused":         "P62: a release says that it worked, whatever the nodes answer",
			"second release is refused":          "P62: a release says that it worked, whatever the nodes answer",
			"interrupted acquire leaves nothing": "a node whose answer was lost is not cleaned up, and the caller hears that the lock is taken",
		},
		New: newRedissonRedLock,
	}
}

// newRedissonRedLock returns the lock redisson-redlock, after org.redisson.RedissonRedLock by
// tryLock with a lease time and without a wait. The holder is Env.Client:Env.Thread.
//
//	acquire  on one node after the other the script of redisson-lease, until a majority is had
//	         and one more has failed, or too many have failed; then PEXPIRE on those that were had
//	release  on all nodes at once the script of redisson-lease
//
// Source: D RedLock, "Redisson has a good implementation of RedLock already"; RedissonMultiLock.java
// and RedissonRedLock.java of August 2026, where RedissonRedLock is marked as deprecated.
//
// Broken: what the acquire took does not come off the lease. PEXPIRE is sent in the end to every
// node whose lock was had, whose key may have ended by then, or be another's: its answer is not looked
// at (P23). A node that failed in any other way than by a time-out is not cleaned up, and what the caller
// hears is that the lock is taken. A release says that it worked whatever the nodes answer (P62).
//
// A Locker stands for one thread of its process. Its leases are safe for concurrent use.
func newRedissonRedLock(env Env) Locker {
	return &redissonRedLock{env: env, holder: holderID(env)}
}

type redissonRedLock struct {
	env    Env
	holder string
}

func (r *redissonRedLock) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	acquired, err := r.majority(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	deadline := r.env.Clock.Now().Add(ttl) // as of PEXPIRE
	for _, node := range acquired {
		if err := r.call(ctx, func(ctx context.Context) error { return node.PExpire(ctx, key, ttl).Err() }); err != nil {
			return nil, err // join throws
		}
	}
	return &redissonRedLease{lock: r, key: key, ttl: ttl, deadline: deadline}, nil
}

// majority is the loop of tryLock: the nodes whose lock it had, or ErrTaken.
func (r *redissonRedLock) majority(ctx context.Context, key string, ttl time.Duration) ([]*redis.Client, error) {
	mayFail := len(r.env.Nodes) - (len(r.env.Nodes)/2 + 1)
	var acquired []*redis.Client
	for failed := 0; failed+len(acquired) < len(r.env.Nodes); {
		node := r.env.Nodes[failed+len(acquired)]
		err := r.call(ctx, func(ctx context.Context) error { return redissonLock(ctx, node, key, r.holder, ttl) })
		if err == nil {
			acquired = append(acquired, node)
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) {
			r.unlock(ctx, key, ttl, []*redis.Client{node})
		}
		if len(r.env.Nodes)-len(acquired) == mayFail {
			break
		}
		if failed++; failed > mayFail {
			r.unlock(ctx, key, ttl, acquired)
			return nil, ErrTaken
		}
	}
	return acquired, nil
}

// call bounds what one node may take.
func (r *redissonRedLock) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, redissonTimeout)
	defer cancel()
	return f(ctx)
}

// unlock is unlockInner: it waits for all nodes, and ignores what they answer.
func (r *redissonRedLock) unlock(ctx context.Context, key string, ttl time.Duration, nodes []*redis.Client) {
	ctx = context.WithoutCancel(ctx)
	var wg sync.WaitGroup
	for _, node := range nodes {
		wg.Go(func() {
			_ = r.call(ctx, func(ctx context.Context) error { return redissonUnlock(ctx, node, key, r.holder, ttl) })
		})
	}
	wg.Wait()
}

// Count is the least of what a majority of the nodes has counted: 0 if there is none.
func (r *redissonRedLock) Count(ctx context.Context, key string) (int64, error) {
	var counts []int64
	var errs []error
	for _, node := range r.env.Nodes {
		count, err := hashCount(ctx, node, key, r.holder)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		counts = append(counts, count)
	}
	return atLeast(counts, len(r.env.Nodes)/2+1), errors.Join(errs...)
}

// atLeast is the greatest number that n of counts reach.
func atLeast(counts []int64, n int) int64 {
	most := int64(0)
	for _, c := range counts {
		reached := 0
		for _, other := range counts {
			if other >= c {
				reached++
			}
		}
		if reached >= n {
			most = max(most, c)
		}
	}
	return most
}

// redissonRedLease is one acquire or re-entry.
type redissonRedLease struct {
	lock     *redissonRedLock
	key      string
	ttl      time.Duration
	deadline time.Time
}

func (l *redissonRedLease) Release(ctx context.Context) error {
	l.lock.unlock(ctx, l.key, l.ttl, l.lock.env.Nodes)
	return nil // whatever they answered
}

func (l *redissonRedLease) Token() int64        { return 0 }
func (l *redissonRedLease) Deadline() time.Time { return l.deadline }
