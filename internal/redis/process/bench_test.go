package process

import (
	"net"
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

func benchmarkStart(b *testing.B, topo cluster.Topology) {
	needServer(b)
	dir := b.TempDir()
	for b.Loop() {
		c, err := New(b.Context(), topo, Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		ids := len(pids(c))
		b.StartTimer()
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(ids), "servers")
	}
}

func BenchmarkStartMasterReplicaRegister(b *testing.B) {
	benchmarkStart(b, cluster.Topology{Masters: 1, Replicas: 1})
}

func BenchmarkStartFiveMasters(b *testing.B) {
	benchmarkStart(b, cluster.Topology{Masters: 5})
}

// What one command costs through the pipe and the wire, against plain TCP.
func BenchmarkCommand(b *testing.B) {
	c := up(b, 1, 0)
	b.Run("dial", func(b *testing.B) {
		nc, err := c.Dial(b.Context(), "A", "master")
		if err != nil {
			b.Fatal(err)
		}
		benchmarkSet(b, nc)
	})
	b.Run("direct", func(b *testing.B) {
		nc, err := net.Dial("tcp", c.Machines["master"].current().addr())
		if err != nil {
			b.Fatal(err)
		}
		benchmarkSet(b, nc)
	})
}

func benchmarkSet(b *testing.B, nc net.Conn) {
	conn := wire.NewConn(nc)
	defer func() { _ = conn.Close() }()
	for b.Loop() {
		if _, err := node.Do(b.Context(), conn, "SET", "k", "v", "PX", "3000"); err != nil {
			b.Fatal(err)
		}
	}
}
