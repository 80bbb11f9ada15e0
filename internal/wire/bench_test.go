package wire

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
)

var benchCommands = []struct {
	name    string
	request []byte
}{
	{"PING", AppendCommand(nil, "PING")},
	{"SET", AppendCommand(nil, "SET", "orders/42", "3f9a8b7c6d5e4f3a", "NX", "PX", "3000")},
}

var benchNetworks = networks[:3:3]

// answerOK answers every read with one +OK. Its clients wait for each answer, so
// that a read is a command.
func answerOK(nc net.Conn) {
	defer nc.Close()
	buf, answer := make([]byte, 4096), []byte("+OK\r\n")
	for {
		if _, err := nc.Read(buf); err != nil {
			return
		}
		if _, err := nc.Write(answer); err != nil {
			return
		}
	}
}

// roundTrips sends request and waits for its answer, b.N times.
func roundTrips(b *testing.B, nc net.Conn, request []byte) {
	b.Helper()
	buf := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nc.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(nc, buf[:5]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDirect(b *testing.B) {
	for _, n := range benchNetworks {
		for _, c := range benchCommands {
			b.Run(n.name+"/"+c.name, func(b *testing.B) {
				near, far := n.pair(b)
				go answerOK(far)
				defer near.Close()
				roundTrips(b, near, c.request)
			})
		}
	}
}

func BenchmarkLink(b *testing.B) {
	for _, n := range benchNetworks {
		for _, c := range benchCommands {
			b.Run(n.name+"/"+c.name, func(b *testing.B) { benchmarkLink(b, n, c.request, nil) })
		}
	}
}

// BenchmarkLinkObserved is the price of an observer.
func BenchmarkLinkObserved(b *testing.B) {
	for _, c := range benchCommands {
		b.Run("tcp/"+c.name, func(b *testing.B) { benchmarkLink(b, networks[0], c.request, func(Event) {}) })
	}
}

func benchmarkLink(b *testing.B, n network, request []byte, observer func(Event)) {
	b.Helper()
	near, link := serveOK(b, n)
	defer link.Close()
	defer near.Close()
	link.Observe(observer)
	roundTrips(b, near, request)
}

func serveOK(t testing.TB, n network) (net.Conn, *Link) {
	link := NewLink("A", "n1", func(context.Context) (net.Conn, error) {
		near, far := n.pair(t)
		go answerOK(far)
		return near, nil
	})
	near, far := n.pair(t)
	go func() { _ = link.Serve(context.Background(), far) }()
	return near, link
}

// BenchmarkLinkLargeValue streams 16 MB values through a link.
func BenchmarkLinkLargeValue(b *testing.B) {
	value := AppendCommand(nil, "SET", "k", string(bytes.Repeat([]byte("x"), 16<<20)))
	near, far := tcpPair(b)
	link := NewLink("A", "n1", func(context.Context) (net.Conn, error) {
		up, down := tcpPair(b)
		go func() { defer down.Close(); _, _ = io.Copy(io.Discard, down) }()
		return up, nil
	})
	go func() { _ = link.Serve(context.Background(), far) }()
	defer link.Close()
	defer near.Close()
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		if _, err := near.Write(value); err != nil {
			b.Fatal(err)
		}
	}
}

// Nobody watches: a command costs no memory.
func TestUnwatchedCommandAllocatesNothing(t *testing.T) {
	near, link := serveOK(t, networks[0])
	defer link.Close()
	defer near.Close()
	request, buf := AppendCommand(nil, "SET", "k", "v", "NX", "PX", "3000"), make([]byte, 5)
	allocs := testing.AllocsPerRun(500, func() {
		if _, err := near.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(near, buf); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations per command, want none", allocs)
	}
}
