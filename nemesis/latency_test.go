package nemesis_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// TestLatency: a round trip takes at least twice the latency, what was measured is
// recorded, and healing ends it.
func TestLatency(t *testing.T) {
	const base, jitter = 5 * time.Millisecond, 5 * time.Millisecond
	everywhere(t, func(w world) {
		conn := w.connect()
		defer func() { _ = conn.Close() }()
		w.replies(conn, "PONG", "PING")
		w.begin("latency", nemesis.Target{Clients: atA.Clients, By: base, Jitter: jitter, Seed: 1})
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
		w.begin("latency", nemesis.Target{Clients: atA.Clients, By: time.Hour})
		must(t, w.HealAll(ctx))
		w.want("PONG", "PING")
	}, seen(
		both("to the lock's servers and back takes longer, each way by 1h0m0s and up to 0s of jitter"),
		both("nothing was delayed"),
	))
}

// annexed has one server more, and the link to that has no clock.
type annexed struct{ deployment }

func (a annexed) Nodes() []cluster.Node {
	return append(slices.Clone(a.deployment.Nodes()), cluster.Node{Name: "nowhere"})
}

func (a annexed) Link(client, node string) *wire.Link {
	if node == "nowhere" {
		return wire.NewLink(client, node, nil)
	}
	return a.deployment.Link(client, node)
}

// TestLatencyNeedsClock: it fails, and leaves no link delayed.
func TestLatencyNeedsClock(t *testing.T) {
	everywhere(t, func(w world) {
		annexed := sceneOf(annexed{w.deployment}, w.clock, nemesis.Victim{Name: "A"})
		if err := w.Start(ctx, made(t, annexed, "latency", nemesis.Target{Clients: atA.Clients, By: time.Hour})); err == nil {
			t.Error("a link without a clock was delayed")
		}
		w.want("PONG", "PING")
	}, func(*testing.T, string, []histories.Op) {})
}
