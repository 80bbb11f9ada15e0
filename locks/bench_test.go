package locks_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// BenchmarkAcquireRelease is one uncontended round against in-process servers.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, spec := range libraries.Catalogue() {
		b.Run(spec.Name, func(b *testing.B) {
			env := seeded("A")
			var servers []*miniredis.Miniredis
			env.Dial = func(_ context.Context, node int) (net.Conn, error) { return servers[node].Dial() }
			for i := range spec.Masters {
				m := miniredis.NewMiniRedis()
				b.Cleanup(m.Close)
				answerWait(b, m, spec.Replicas)
				servers = append(servers, m)
				client := locks.NewClient(func(ctx context.Context) (net.Conn, error) { return env.Dial(ctx, i) })
				b.Cleanup(func() { _ = client.Close() })
				env.Nodes = append(env.Nodes, client)
			}
			lock := spec.New(env)
			if closer, ok := lock.(io.Closer); ok {
				defer closer.Close()
			}
			if unable(b, spec, lock, "orders/42") {
				return
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := round(b.Context(), lock, "orders/42"); err != nil && (spec.Sound || !errors.Is(err, locks.ErrNotHeld)) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUncontended is one uncontended round against real servers, over the wire, as a
// ratio to a bare SET and DEL. Each round is followed by a bare one, so that a busy machine
// is the same for both. ns/op and x-set-del are of the lock's rounds alone.
func BenchmarkUncontended(b *testing.B) {
	deployments := newServers(b)
	for _, spec := range libraries.Catalogue() {
		b.Run(spec.Name, func(b *testing.B) {
			w := deployments.world(b, spec)
			defer w.Close()
			env := w.Client("A")
			lock := spec.New(env)
			defer closeLock(b, lock)
			if unable(b, spec, lock, w.Key()) {
				return
			}
			var locked, bare time.Duration
			rounds := 0
			for b.Loop() {
				start := time.Now()
				if err := round(b.Context(), lock, w.Key()); err != nil && (spec.Sound || !errors.Is(err, locks.ErrNotHeld)) {
					b.Fatal(err)
				}
				between := time.Now()
				if err := setDel(b.Context(), env.Nodes[0], w.Key()+"/bare"); err != nil {
					b.Fatal(err)
				}
				locked += between.Sub(start)
				bare += time.Since(between)
				rounds++
			}
			b.ReportMetric(float64(locked.Nanoseconds())/float64(rounds), "ns/op")
			b.ReportMetric(float64(locked)/float64(bare), "x-set-del")
		})
	}
}

// unable says, also to the reader, that a broken lock cannot do a round, so that there is
// no figure. A release that is refused is a round: its commands were sent.
func unable(b *testing.B, spec locks.Spec, lock locks.Locker, key string) bool {
	err := round(b.Context(), lock, key)
	if err == nil || spec.Sound || errors.Is(err, locks.ErrNotHeld) {
		return false
	}
	b.Logf("no figure, the lock cannot do a round: %v", err)
	return true
}

// round is one acquire and its release.
func round(ctx context.Context, lock locks.Locker, key string) error {
	held, err := lock.Acquire(ctx, key, time.Minute)
	if err != nil {
		return err
	}
	return held.Release(ctx)
}

func setDel(ctx context.Context, node *locks.Client, key string) error {
	if err := node.Set(ctx, key, "token", time.Minute).Err(); err != nil {
		return err
	}
	return node.Del(ctx, key).Err()
}
