package nemesis_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// TestLatency: a round trip takes at least twice the latency, what was measured is
// recorded, and healing ends it.
func TestLatency(t *testing.T) {
	const base, jitter = 5 * time.Millisecond, 5 * time.Millisecond
	everywhere(t, func(w world) {
		conn := w.connect()
		defer func() { _ = conn.Close() }()
		w.replies(conn, "PONG", "PING")
		link := w.Link("A", "master")
		w.start(nemesis.Latency("A", []*wire.Link{link}, wire.Latency{Base: base, Jitter: jitter, Seed: 1}))
		for range 3 {
			began := time.Now()
			w.replies(conn, "PONG", "PING")
			if took := time.Since(began); took < 2*base {
				t.Errorf("a round trip took %v, want at least %v", took, 2*base)
			}
		}
		must(t, w.HealAll(ctx))
		began := time.Now()
		w.replies(conn, "PONG", "PING")
		if took := time.Since(began); w.isVirtual() && took > 2*time.Millisecond {
			t.Errorf("after healing a round trip took %v", took)
		}
	}, func(t *testing.T, backend string, ops []histories.Op) {
		if len(ops) != 1 || ops[0].Outcome() != histories.OK {
			t.Fatalf("recorded %+v", ops)
		}
		if got, want := ops[0].Invoke.Value, "to the lock's servers and back takes longer, each way by 5ms and up to 5ms of jitter"; got != want {
			t.Errorf("planned %q, want %q", got, want)
		}
		var n int
		var from, to string
		seen := ops[0].Complete.Value
		if _, err := fmt.Sscanf(seen, "%d messages delayed, by %s to %s", &n, &from, &to); err != nil {
			t.Fatalf("seen %q: %v", seen, err)
		}
		least, err := time.ParseDuration(from)
		must(t, err)
		most, err := time.ParseDuration(to)
		must(t, err)
		// A slow machine makes it longer, never shorter.
		if n != 6 || least < base || most <= least || backend == "embedded" && most > base+jitter+time.Millisecond {
			t.Errorf("seen %q", seen)
		}
	})
}

func TestLatencyWithoutMessages(t *testing.T) {
	everywhere(t, func(w world) {
		w.start(nemesis.Latency("A", []*wire.Link{w.Link("A", "master")}, wire.Latency{Base: time.Hour}))
		must(t, w.HealAll(ctx))
		w.want("PONG", "PING")
	}, seen(
		both("to the lock's servers and back takes longer, each way by 1h0m0s and up to 0s of jitter"),
		both("nothing was delayed"),
	))
}

// TestLatencyNeedsClock: it fails, and leaves no link delayed.
func TestLatencyNeedsClock(t *testing.T) {
	everywhere(t, func(w world) {
		links := []*wire.Link{w.Link("A", "master"), wire.NewLink("A", "nowhere", nil)}
		if err := w.Start(ctx, nemesis.Latency("A", links, wire.Latency{Base: time.Hour})); err == nil {
			t.Error("a link without a clock was delayed")
		}
		w.want("PONG", "PING")
	}, func(*testing.T, string, []histories.Op) {})
}
