package locks_test

import (
	"context"
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
			for range spec.Masters {
				m := miniredis.NewMiniRedis()
				b.Cleanup(m.Close)
				client := locks.NewClient(func(context.Context) (net.Conn, error) { return m.Dial() })
				b.Cleanup(func() { _ = client.Close() })
				env.Nodes = append(env.Nodes, client)
			}
			lock := spec.New(env)
			b.ReportAllocs()
			for b.Loop() {
				held, err := lock.Acquire(b.Context(), "orders/42", time.Minute)
				if err != nil {
					b.Fatal(err)
				}
				if err := held.Release(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
