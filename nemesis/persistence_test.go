package nemesis_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/nemesis"
)

// matches checks what the one fault of a history planned, and by a pattern what it saw.
func matches(plan, pattern map[string]string) func(t *testing.T, backend string, ops []histories.Op) {
	return func(t *testing.T, backend string, ops []histories.Op) {
		t.Helper()
		if len(ops) != 1 || ops[0].Outcome() != histories.OK {
			t.Fatalf("recorded %+v", ops)
		}
		if backend == "docker" {
			backend = "process"
		}
		if got := ops[0].Invoke.Value; got != plan[backend] {
			t.Errorf("planned %q, want %q", got, plan[backend])
		}
		if got := ops[0].Complete.Value; !regexp.MustCompile("^" + pattern[backend] + "$").MatchString(got) {
			t.Errorf("seen %q, want %q", got, pattern[backend])
		}
	}
}

func backends(embedded, process string) map[string]string {
	return map[string]string{"embedded": embedded, "process": process}
}

const duration = `[0-9.]+(m?s|m[0-9.]+s)`

// dead checks that the server of the lock is gone.
func (w world) dead() {
	w.t.Helper()
	if _, err := ask(w.t, w, "master", "PING"); err == nil || w.Alive("master") {
		w.t.Error("the server is still there")
	}
}

func TestRestartAOF(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "other", "v")
		w.want("OK", "SET", "k", "token", "NX", "PX", "600000")
		w.begin("restart-aof", atMaster)
		w.dead()
		must(t, w.clock.Sleep(ctx, time.Second))
		must(t, w.HealAll(ctx))
		w.want("token", "GET", "k")
		keys, err := w.Inspect(ctx, "master", 0, "k")
		must(t, err)
		// The time in which the server was dead counts.
		if ttl := keys[0].TTL; ttl > 599*time.Second || ttl < 5*time.Minute {
			t.Errorf("it lives for another %v", ttl)
		}
		w.want("1", "DEL", "k")
	}, matches(
		backends("kill -9; it keeps its data (simulated AOF)", "kill -9; it keeps its data (AOF, appendfsync always)"),
		both("away for "+duration+", back with 2 keys, of the lock's k"),
	))
}

// A lock whose lease ends while the server is dead is free when it comes back.
func TestRestartAOFExpires(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "k", "token", "PX", "500")
		w.begin("restart-aof", atMaster)
		must(t, w.clock.Sleep(ctx, time.Second))
		must(t, w.HealAll(ctx))
		w.want("OK", "SET", "k", "another", "NX")
	}, func(t *testing.T, _ string, ops []histories.Op) {
		if got := ops[0].Complete.Value; !strings.HasSuffix(got, ", back without any key") {
			t.Errorf("seen %q", got)
		}
	})
}

func TestRestartDelayed(t *testing.T) {
	const delay = 1500 * time.Millisecond
	everywhere(t, func(w world) {
		w.want("OK", "SET", "k", "token", "PX", "600000")
		before := w.clock.Now()
		s := scene(w)
		s.TTL = delay
		w.start(made(t, s, "restart-delayed", atMaster))
		w.dead()
		must(t, w.HealAll(ctx)) // waits
		if took := w.clock.Now().Sub(before); took < delay {
			t.Errorf("it was back after %v", took)
		}
		w.want("OK", "SET", "k", "another", "NX")
	}, func(t *testing.T, backend string, ops []histories.Op) {
		matches(both("kill -9, for 1.5s or longer"), both("it died with 1 key; away for "+duration+", started again, empty"))(t, backend, ops)
		if took := ops[0].Complete.Time - ops[0].Invoke.Time; took < delay {
			t.Errorf("it was recorded as over after %v", took)
		}
	})
}

// Healing does not wait for longer than it must.
func TestRestartDelayedLongAgo(t *testing.T) {
	on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) {
		must(t, i.Start(ctx, made(t, nemesis.Scene{Cluster: c, Clock: clock, TTL: time.Minute}, "restart-delayed", atMaster)))
		must(t, clock.Sleep(ctx, 2*time.Minute))
		before := clock.Now()
		must(t, i.HealAll(ctx))
		if waited := clock.Now().Sub(before); waited != 0 || !c.Alive("master") {
			t.Errorf("waited another %v; alive: %v", waited, c.Alive("master"))
		}
	})
}

func TestPowerLoss(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "kept", "v", "PX", "600000")
		w.want("OK", "SET", "older", "A", "PX", "600000")
		s := scene(w)
		s.Kept.Names = []string{"k", "kept", "older", "short"}
		w.start(made(t, s, "power-loss", atMaster))
		w.want("PONG", "PING")
		w.want("OK", "SET", "k", "token", "NX", "PX", "600000")
		w.want("OK", "SET", "older", "B", "PX", "600000")
		w.want("OK", "SET", "other", "v")
		must(t, w.HealAll(ctx))
		w.want("OK", "SET", "k", "another", "NX")
		w.want("A", "GET", "older")
		w.want("v", "GET", "kept")
		w.want("0", "EXISTS", "other")
	}, matches(
		backends("what it writes is no longer synced, and then power is lost (simulated; simulated AOF)",
			"what it writes is no longer synced, and then power is lost (simulated; AOF, appendfsync everysec)"),
		backends("the last writes to 3 of its keys cut off, away for 0s, back without k, with an older older",
			"[1-9][0-9]+ bytes of its AOF cut off, away for "+duration+", back without k, with an older older"),
	))
}

// A server that had written nothing loses nothing.
func TestPowerLossOfNothing(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "k", "v", "PX", "600000")
		w.begin("power-loss", atMaster)
		must(t, w.HealAll(ctx))
		w.want("v", "GET", "k")
	}, func(t *testing.T, _ string, ops []histories.Op) {
		if got := ops[0].Complete.Value; !strings.HasSuffix(got, ", back with every key of the lock that it had") {
			t.Errorf("seen %q", got)
		}
	})
}
