package nemesis_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/cluster/embedded"
	"github.com/lockbench/lockbench/cluster/process"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks/locktest"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/sim"
)

// deployment is what a fault is tried on.
type deployment interface {
	cluster.Cluster
	cluster.Commander
}

// world is a deployment with an injector. Its methods fail the test.
type world struct {
	deployment
	*nemesis.Injector
	t *testing.T
}

// everywhere runs f in virtual time and on real servers, and hands the history that
// either leaves to look, with the name of the backend.
func everywhere(t *testing.T, f func(w world), look func(t *testing.T, backend string, ops []histories.Op)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, _ *sim.Source) { f(world{c, i, t}) })
		look(t, "embedded", ops)
	})
	t.Run("process", func(t *testing.T) {
		locktest.NeedRedis(t)
		c, err := process.New(t.Context(), cluster.Topology{Masters: 1}, process.Options{Dir: t.TempDir()})
		must(t, err)
		defer func() { must(t, c.Close()) }()
		rec := histories.NewRecorder(nil)
		start := time.Now()
		rec.Start(func() time.Duration { return time.Since(start) })
		f(world{c, nemesis.NewInjector(rec), t})
		ops, err := histories.Pair(rec.Events())
		must(t, err)
		look(t, "process", ops)
	})
}

// want sends a command as client A, over the wire, and compares the reply or the error.
func (w world) want(want string, args ...string) {
	w.t.Helper()
	got, err := ask(w.t, w, "master", args...)
	if err != nil {
		got = err.Error()
	}
	if !strings.HasPrefix(got, want) {
		w.t.Errorf("%v: got %q, want %q", args, got, want)
	}
}

func (w world) start(f nemesis.Fault) {
	w.t.Helper()
	must(w.t, w.Start(ctx, f))
}

// seen checks what the one fault of a history recorded, by backend.
func seen(plan, seen map[string]string) func(t *testing.T, backend string, ops []histories.Op) {
	return func(t *testing.T, backend string, ops []histories.Op) {
		t.Helper()
		if len(ops) != 1 || ops[0].Outcome() != histories.OK {
			t.Fatalf("recorded %+v", ops)
		}
		if got := ops[0].Invoke.Value; got != plan[backend] {
			t.Errorf("planned %q, want %q", got, plan[backend])
		}
		if got := ops[0].Complete.Value; got != seen[backend] {
			t.Errorf("seen %q, want %q", got, seen[backend])
		}
	}
}

func both(s string) map[string]string { return map[string]string{"embedded": s, "process": s} }

func TestScriptFlush(t *testing.T) {
	const script, sha = "return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
	everywhere(t, func(w world) {
		w.want("OK", "SET", "k", "v")
		w.want("1", "EVAL", script, "0")
		w.want("1", "EVALSHA", sha, "0")
		w.start(nemesis.ScriptFlush(w, "master"))
		w.want("NOSCRIPT", "EVALSHA", sha, "0")
		w.want("v", "GET", "k")
		w.want("1", "EVAL", script, "0") // heals
		w.want("1", "EVALSHA", sha, "0")
	}, seen(both("SCRIPT FLUSH"), both("it has forgotten its scripts")))
}

func TestFlush(t *testing.T) {
	const script, sha = "return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
	everywhere(t, func(w world) {
		w.want("OK", "SET", "k", "v", "PX", "60000")
		w.want("1", "INCR", "fence")
		w.want("1", "EVAL", script, "0")
		w.start(nemesis.Flush(w, "master"))
		w.want("0", "EXISTS", "k", "fence")
		w.want("1", "EVALSHA", sha, "0")
		w.want("OK", "SET", "k", "w", "NX")
	}, seen(both("FLUSHALL"), both("2 keys gone")))
}

func TestEvict(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "k", "v", "PX", "60000")
		kinds, err := nemesis.Find([]string{"evict"})
		must(t, err)
		fault, ok := kinds[0].Draw(scene(w), random())
		if !ok {
			t.Fatal("nothing to hit")
		}
		w.start(fault)
		w.want("0", "EXISTS", "k")
		w.want("OK", "SET", "k", "w", "NX") // there is memory again
		if _, simulated := w.deployment.(cluster.EvictionSimulator); !simulated {
			for name, want := range map[string]string{"maxmemory": "0", "maxmemory-policy": "noeviction"} {
				reply, err := w.Do(ctx, "master", "CONFIG", "GET", name)
				must(t, err)
				if got := reply.Elems[1].Text(); got != want {
					t.Errorf("%s is %s, want %s as before", name, got, want)
				}
			}
		}
	}, seen(
		map[string]string{"embedded": "memory is full (simulated)", "process": "memory is full: maxmemory 1, allkeys-lru"},
		map[string]string{"embedded": "1 key deleted (simulated)", "process": "1 key before, 0 after"},
	))
}

func TestSquatter(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "k", "v", "PX", "60000")
		w.start(nemesis.Squatter(w, "master", "k"))
		w.want("WRONGTYPE", "GET", "k")
		w.want("WRONGTYPE", "HSET", "k", "A", "1")
		w.want("", "SET", "k", "w", "NX")
		w.want("list", "TYPE", "k")
		must(t, w.HealAll(ctx))
		w.want("OK", "SET", "k", "w", "NX")
	}, seen(both("somebody puts a list under k"), both("the list is deleted; it had replaced a string")))
}

// A squatter that somebody else has driven out takes nothing with it.
func TestSquatterIsGone(t *testing.T) {
	everywhere(t, func(w world) {
		w.start(nemesis.Squatter(w, "master", "k"))
		w.want("1", "DEL", "k")
		w.want("OK", "SET", "k", "v")
		must(t, w.HealAll(ctx))
		w.want("v", "GET", "k")
	}, seen(both("somebody puts a list under k"), both("the list is gone already; it had taken a free key")))
}

func TestClockJump(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "soon", "v", "PX", "60000")
		w.want("OK", "SET", "late", "v", "PX", "600000")
		w.want("OK", "SET", "never", "v")
		const by = 2 * time.Minute
		if c, ok := w.deployment.(cluster.ClockStepper); ok {
			w.start(nemesis.ClockJump(c, "master", by))
		} else {
			w.start(nemesis.LogicalClockJump(w, "master", by))
		}
		keys, err := w.Inspect(ctx, "master", "soon", "late", "never")
		must(t, err)
		if keys[0].Exists || !keys[1].Exists || !keys[2].Exists {
			t.Errorf("keys %+v", keys)
		}
		// A slow machine makes the rest shorter, never longer.
		if ttl := keys[1].TTL; ttl > 8*time.Minute || ttl < 7*time.Minute {
			t.Errorf("the late key lives for another %v, want 8m", ttl)
		}
		must(t, w.HealAll(ctx))
		w.want("OK", "SET", "new", "v", "PX", "60000")
		keys, err = w.Inspect(ctx, "master", "soon", "new")
		must(t, err)
		if keys[0].Exists || !keys[1].Exists || keys[1].TTL > time.Minute || keys[1].TTL < 30*time.Second {
			t.Errorf("after healing %+v", keys)
		}
	}, seen(
		map[string]string{
			"embedded": "its clock jumps by 2m0s",
			"process":  "its clock jumps by 2m0s (logical: its expiries move, TIME does not)",
		},
		map[string]string{"embedded": "its clock jumps by -2m0s", "process": "logical: 1 of 2 with a TTL expired"},
	))
}

func TestLogicalClockJumpGoesForward(t *testing.T) {
	everywhere(t, func(w world) {
		if err := w.Start(ctx, nemesis.LogicalClockJump(w, "master", -time.Second)); err == nil {
			t.Error("it went back")
		}
	}, func(*testing.T, string, []histories.Op) {})
}

// Commands past the clients do not cross their links, and a node that is not there
// does not answer.
func TestCommander(t *testing.T) {
	everywhere(t, func(w world) {
		w.Link("A", "master").Cut()
		if _, err := w.Do(ctx, "master", "PING"); err != nil {
			t.Errorf("past a cut link: %v", err)
		}
		if reply, err := w.Do(ctx, "master", "GET"); err == nil {
			t.Errorf("an error reply came as %v", reply)
		}
		if _, err := w.Do(ctx, "master"); err == nil {
			t.Error("no command was sent")
		}
		if _, err := w.Do(ctx, "nowhere", "PING"); err == nil {
			t.Error("an unknown node answered")
		}
		p := w.deployment.(cluster.Pauser)
		must(t, p.Pause(ctx, "master"))
		soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if _, err := w.Do(soon, "master", "PING"); err == nil {
			t.Error("a paused node answered")
		}
		must(t, p.Resume(ctx, "master"))
		must(t, w.deployment.(cluster.Killer).Kill(ctx, "master"))
		if _, err := w.Do(ctx, "master", "PING"); err == nil {
			t.Error("a dead node answered")
		}
	}, func(*testing.T, string, []histories.Op) {})
}

// TestDrawnFaults draws every fault that needs no client and sees it through.
func TestDrawnFaults(t *testing.T) {
	everywhere(t, func(w world) {
		for _, k := range nemesis.Kinds() {
			if k.Client || k.Replica {
				continue
			}
			must(t, k.Needs(w.deployment))
			fault, ok := k.Draw(scene(w), random())
			if !ok || fault.F != k.F {
				t.Fatalf("%s: drew %+v, %v", k.Name, fault, ok)
			}
			w.start(fault)
			must(t, w.HealAll(ctx))
			w.want("PONG", "PING")
		}
	}, func(t *testing.T, _ string, ops []histories.Op) {
		for _, o := range ops {
			if o.Outcome() != histories.OK {
				t.Errorf("%s ended as %v: %s", o.Invoke.F, o.Outcome(), o.Complete.Err)
			}
		}
	})
}

func scene(w world) nemesis.Scene {
	return nemesis.Scene{Cluster: w.deployment, Shards: 1, Keys: []string{"k"}, TTL: time.Second}
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
