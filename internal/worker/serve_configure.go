package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// setUpLimit bounds connecting to all servers. It is less than what the other side waits for an answer.
const setUpLimit = 15 * time.Second

// configure makes the lock and connects to every server.
func (s *server) configure(ctx context.Context, set *Setting) error {
	if set == nil {
		return errors.New("configure says nothing, want lock, guard, nodes and register")
	}
	if s.lock(0) != nil {
		return errors.New("it is configured already")
	}
	name := set.Lock
	if name == "" {
		name = defaultLock
	}
	spec, err := s.all.Find(name)
	if err != nil {
		return err
	}
	guard, err := resource.FindGuard(set.Guard)
	if err != nil {
		return err
	}
	if err := guard.Supports(spec); err != nil {
		return err
	}
	if len(set.Nodes) != spec.Masters {
		return fmt.Errorf("lock %s needs %d masters, got the addresses of %d", spec.Name, spec.Masters, len(set.Nodes))
	}
	var shards []*locks.Client
	for _, address := range set.Nodes {
		shards = append(shards, locks.NewClient(func(ctx context.Context) (net.Conn, error) { return s.opt.dial(ctx, address) }))
	}
	s.register = locks.NewClient(func(ctx context.Context) (net.Conn, error) { return Options{}.dial(ctx, set.Register.Address) })
	env := locks.Env{
		Nodes:    shards,
		Dial:     func(ctx context.Context, node int) (net.Conn, error) { return s.opt.dial(ctx, set.Nodes[node]) },
		Clock:    Clock{},
		NewClock: func() locks.Clock { return Clock{} },
		Rand:     locks.NewSource(seeded(set.Seed)),
		Client:   set.Identity,
		Thread:   1, // the first of its process
	}
	lock := spec.New(env)
	if set.Connect {
		if err := connect(ctx, set, shards, s.register, lock); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard, s.spec, s.masters, s.env, s.seed = guard, spec, shards, env, set.Seed
	s.threads[0] = lock
	return nil
}

// seeded is what the random numbers of a lock begin with: those that the harness gives to a lock of its
// own, so that a token which others may draw, too, is the same in both.
func seeded(seed string) (key [32]byte) {
	if b, err := hex.DecodeString(seed); err == nil && len(b) == len(key) {
		return [32]byte(b)
	}
	return sha256.Sum256([]byte(seed))
}

// connect connects to every server and sends the scripts ahead, so that no fault hits that.
func connect(ctx context.Context, set *Setting, shards []*locks.Client, register *locks.Client, lock locks.Locker) error {
	ctx, cancel := context.WithTimeout(ctx, setUpLimit)
	defer cancel()
	errs := make([]error, len(shards))
	var all sync.WaitGroup
	for i, shard := range shards { // at once, as each script takes a turn to its server and back
		all.Go(func() {
			if err := locks.Load(ctx, shard); err != nil {
				errs[i] = fmt.Errorf("connect to %s: %w", set.Nodes[i], err)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := resource.NewRegister(register, "").Load(ctx); err != nil {
		return fmt.Errorf("connect to %s: %w", set.Register.Address, err)
	}
	if c, ok := lock.(locks.Connector); ok {
		if err := c.Connect(ctx); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	return nil
}
