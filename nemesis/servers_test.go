package nemesis_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/docker"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/redis/process"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/testkit/dockertest"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/nemesis"
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
	t     *testing.T
	clock nemesis.Clock
}

// inContainers are the tests of faults that backend docker brings about in its own way.
func inContainers() []string {
	return []string{"TestCommander", "TestFlush", "TestOOM", "TestPartition", "TestPowerLoss", "TestRestartAOF"}
}

// everywhere runs f in virtual time and on real servers, and hands the history that
// either leaves to look, with the name of the backend.
func everywhere(t *testing.T, f func(w world), look func(t *testing.T, backend string, ops []histories.Op)) {
	t.Helper()
	t.Parallel() // on real servers most of the time is spent waiting
	t.Run("embedded", func(t *testing.T) {
		ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) { f(world{c, i, t, clock}) })
		look(t, "embedded", ops)
	})
	t.Run("process", func(t *testing.T) {
		t.Parallel()
		look(t, "process", onProcess(t, process.Options{}, f))
	})
	if !effort.Nightly() && !slices.Contains(inContainers(), t.Name()) {
		return // docker has the servers of process, and its own tests
	}
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		dockertest.Need(t)
		c, err := docker.New(t.Context(), cluster.Topology{Masters: 1}, docker.Options{})
		must(t, err)
		look(t, "docker", onServers(t, c, f))
	})
}

// onProcess runs f on redis-server processes.
func onProcess(t *testing.T, opt process.Options, f func(w world)) []histories.Op {
	t.Helper()
	locktest.NeedRedis(t)
	opt.Dir = t.TempDir()
	c, err := process.New(t.Context(), cluster.Topology{Masters: 1}, opt)
	must(t, err)
	if opt.Clocks {
		needFaketime(t, c)
	}
	return onServers(t, c, f)
}

// onServers runs f on c, closes it, and returns the faults as the history tells them.
func onServers(t *testing.T, c deployment, f func(w world)) []histories.Op {
	t.Helper()
	defer func() { must(t, c.Close()) }()
	rec := histories.NewRecorder(nil)
	start := time.Now()
	rec.Start(func() time.Duration { return time.Since(start) })
	f(world{c, nemesis.NewInjector(rec), t, realClock{}})
	ops, err := histories.Pair(rec.Events())
	must(t, err)
	return ops
}

// realClock is the machine's clock.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(_ context.Context, d time.Duration) error {
	time.Sleep(d)
	return nil
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
// Docker has the same servers as process.
func seen(plan, seen map[string]string) func(t *testing.T, backend string, ops []histories.Op) {
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
		w.begin("script-flush", atMaster)
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
		w.begin("flush", atMaster)
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
		w.begin("squatter", atMaster)
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
		w.begin("squatter", atMaster)
		w.want("1", "DEL", "k")
		w.want("OK", "SET", "k", "v")
		must(t, w.HealAll(ctx))
		w.want("v", "GET", "k")
	}, seen(both("somebody puts a list under k"), both("the list is gone already; it had taken a free key")))
}

func TestLogicalClockJumpGoesForward(t *testing.T) {
	everywhere(t, func(w world) {
		w.deployment = unclocked{w.deployment}
		if err := w.Start(ctx, made(t, scene(w), "clock", nemesis.Target{Nodes: atMaster.Nodes, By: -time.Second})); err == nil {
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

func scene(w world) nemesis.Scene { return sceneOf(w.deployment, w.clock) }

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
