package locks_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/locks"
)

// BenchmarkAcquireRelease is one uncontended round against in-process servers.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, spec := range locks.All() {
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
			b.ReportAllocs()
			for b.Loop() {
				held, err := lock.Acquire(b.Context(), "orders/42", time.Minute)
				if err == nil {
					err = held.Release(b.Context())
				}
				switch {
				case err != nil && spec.Sound:
					b.Fatal(err)
				case err != nil:
					b.Skipf("%s: %v", spec.Flaw, err)
				}
			}
		})
	}
}
