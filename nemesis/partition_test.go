package nemesis_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// TestPartition: open connections break, new ones are refused, and what one had sent is lost.
func TestPartition(t *testing.T) {
	everywhere(t, func(w world) {
		first, second := w.connect(), w.connect()
		w.replies(first, "PONG", "PING")
		w.replies(second, "PONG", "PING")
		w.begin("partition", atA)
		for _, conn := range []*wire.Conn{first, second} {
			if reply, err := conn.Do(ctx, "SET", "k", "v"); err == nil {
				t.Errorf("a client that is cut off was told %v", reply)
			}
		}
		if nc, err := w.Dial(ctx, "A", "master"); err == nil {
			_ = nc.Close()
			t.Error("a client that is cut off connected")
		}
		must(t, w.HealAll(ctx))
		w.want("0", "EXISTS", "k")
	}, seen(both("client is cut off from the lock's servers"), both("2 connections broke, and no new one was taken")))
}

// TestPartitionFrom: it says from which servers, and breaks what leads there.
func TestPartitionFrom(t *testing.T) {
	everywhere(t, func(w world) {
		conn := w.connect()
		w.replies(conn, "PONG", "PING")
		w.begin("partition", nemesis.Target{Clients: atA.Clients, Nodes: atMaster.Nodes})
		if reply, err := conn.Do(ctx, "SET", "k", "v"); err == nil {
			t.Errorf("a client that is cut off was told %v", reply)
		}
		must(t, w.HealAll(ctx))
		w.want("0", "EXISTS", "k")
	}, seen(both("client is cut off from master"), both("1 connection broke, and no new one was taken")))
}

// TestLate: a command of a client that has gone is executed when the fault is healed.
func TestLate(t *testing.T) {
	everywhere(t, func(w world) {
		conn := w.connect()
		w.replies(conn, "PONG", "PING")
		link := w.Link("A", "master")
		gone := w.connect()
		w.replies(gone, "PONG", "PING")
		w.begin("late", atA)
		answer := make(chan error, 1)
		go func() {
			_, err := conn.Do(ctx, "SET", "k", "v")
			answer <- err
		}()
		w.keeps(link)
		keys, err := w.Inspect(ctx, "master", 0, "k")
		must(t, err)
		if keys[0].Exists {
			t.Error("it was executed while it was late")
		}
		must(t, w.HealAll(ctx))
		must(t, <-answer)
		w.want("v", "GET", "k")
		_ = conn.Close()
		_ = gone.Close()
	}, seen(both("what it sends to the lock's servers, and what they answer, waits"), both("something on 1 connection waited, and is delivered")))
}
