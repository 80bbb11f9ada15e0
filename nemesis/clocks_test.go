package nemesis_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/redis/process"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// needFaketime skips the test where the clocks of real servers cannot be set, or fails it
// if the environment has LOCKBENCH_REQUIRE_FAKETIME=1.
func needFaketime(t *testing.T, c *process.Cluster) {
	t.Helper()
	_, err := c.Clocks()
	switch {
	case err != nil && os.Getenv("LOCKBENCH_REQUIRE_FAKETIME") == "1":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
}

// everywhereClocked is everywhere with servers whose clocks can be set.
func everywhereClocked(t *testing.T, f func(w world), look func(t *testing.T, backend string, ops []histories.Op)) {
	t.Helper()
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		look(t, "embedded", on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) { f(world{c, i, t, clock}) }))
	})
	t.Run("process", func(t *testing.T) {
		t.Parallel()
		look(t, "process", onProcess(t, process.Options{Clocks: true}, func(w world) {
			w.clock = hurried{}
			f(w)
		}))
	})
}

// hurried is the machine's clock for who does not wait until leases of hours are over.
type hurried struct{ realClock }

func (hurried) Sleep(context.Context, time.Duration) error { return nil }

// lives says for how long a key lives, or 0 if it is gone.
func (w world) lives(key string) time.Duration {
	w.t.Helper()
	keys, err := w.Inspect(ctx, "master", 0, key)
	must(w.t, err)
	return keys[0].TTL
}

// numbers are those in the text that a fault was seen with, those without a unit aside.
func numbers(t *testing.T, ops []histories.Op) []float64 {
	t.Helper()
	if len(ops) != 1 || ops[0].Outcome() != histories.OK {
		t.Fatalf("recorded %+v", ops)
	}
	var all []float64
	inexact := regexp.MustCompile(` \(± [^)]*\)`)
	for _, text := range regexp.MustCompile(`\d+\.\d{3}`).FindAllString(inexact.ReplaceAllString(ops[0].Complete.Value, ""), -1) {
		n, err := strconv.ParseFloat(text, 64)
		must(t, err)
		all = append(all, n)
	}
	return all
}

func TestClockJumpsForward(t *testing.T) {
	everywhereClocked(t, func(w world) {
		w.want("OK", "SET", "early", "v", "PX", "60000")
		w.want("OK", "SET", "late", "v", "PX", "600000")
		w.want("OK", "SET", "never", "v")
		w.begin("clock", nemesis.Target{Nodes: atMaster.Nodes, By: 2 * time.Minute})
		if w.lives("early") != 0 {
			t.Error("a key outlived its TTL by the server's clock")
		}
		// A slow machine makes the rest shorter, never longer.
		if left := w.lives("late"); left > 8*time.Minute || left < 7*time.Minute {
			t.Errorf("the late key lives for another %v, want 8m", left)
		}
		w.want("1", "EXISTS", "never")
		w.want("OK", "SET", "meanwhile", "v", "PX", "60000")
		healed := w.clock.Now()
		must(t, w.HealAll(ctx))
		waited := w.clock.Now().Sub(healed)
		w.want("0", "EXISTS", "early") // what has expired stays gone
		if left := w.lives("late") + waited; left <= 8*time.Minute {
			t.Errorf("the late key lives for %v from when the clock was set right, want 10m", left)
		}
		if _, hurried := w.clock.(hurried); !hurried && w.lives("meanwhile") > time.Minute {
			t.Errorf("the fault is over, and a key of 60s lives for another %v", w.lives("meanwhile"))
		}
	}, func(t *testing.T, _ string, ops []histories.Op) {
		if n := numbers(t, ops); len(n) != 3 || n[0] < 119 || n[0] > 121 || n[1] > 1 || n[2] > 1 {
			t.Errorf("seen: %s", ops[0].Complete.Value)
		}
		if want := "its clock jumps by 2m0s"; ops[0].Invoke.Value != want {
			t.Errorf("planned %q, want %q", ops[0].Invoke.Value, want)
		}
	})
}

func TestClockJumpsBack(t *testing.T) {
	everywhereClocked(t, func(w world) {
		w.want("OK", "SET", "k", "v", "PX", "60000")
		w.begin("clock", nemesis.Target{Nodes: atMaster.Nodes, By: -2 * time.Minute})
		if left := w.lives("k"); left <= 2*time.Minute || left > 3*time.Minute {
			t.Errorf("the key lives for another %v, want 3m", left)
		}
		w.want("OK", "SET", "new", "v", "PX", "60000")
		if left := w.lives("new"); left > time.Minute {
			t.Errorf("a new key lives for %v, want 1m", left)
		}
		must(t, w.HealAll(ctx))
		if left := w.lives("k"); left > time.Minute || left < 30*time.Second {
			t.Errorf("the key lives for another %v, want 1m", left)
		}
		w.want("0", "EXISTS", "new") // the clock has passed its end
	}, func(t *testing.T, _ string, ops []histories.Op) {
		n := numbers(t, ops)
		if len(n) != 3 || n[0] < 119 || n[0] > 121 || !strings.Contains(ops[0].Complete.Value, "s behind") {
			t.Errorf("seen: %s", ops[0].Complete.Value)
		}
	})
}

func TestClockRate(t *testing.T) {
	everywhereClocked(t, func(w world) {
		w.want("OK", "SET", "k", "v", "PX", "3000000") // so long that half a second's doubt of when the clock began is little
		w.begin("clock-rate", nemesis.Target{Nodes: atMaster.Nodes, Rate: 1000})
		for w.lives("k") > 0 { // 3 s; by a clock that is right the test would time out
			time.Sleep(10 * time.Millisecond)
		}
		must(t, w.HealAll(ctx))
		w.want("OK", "SET", "k", "v", "PX", "60000")
		time.Sleep(10 * time.Millisecond)
		if left := w.lives("k"); left < 30*time.Second {
			t.Errorf("after healing a key of 60s has %v left", left)
		}
	}, func(t *testing.T, _ string, ops []histories.Op) {
		n := numbers(t, ops)
		if len(n) != 4 || n[0] < 500 || n[0] > 2000 || n[3] > 1 {
			t.Errorf("seen: %s", ops[0].Complete.Value)
		}
	})
}

// A clock fault of a server that dies is over: it starts again with the right clock.
func TestClockOfAServerThatDies(t *testing.T) {
	everywhereClocked(t, func(w world) {
		w.begin("clock", nemesis.Target{Nodes: atMaster.Nodes, By: time.Hour})
		must(t, w.deployment.(cluster.Killer).Kill(ctx, "master"))
		must(t, w.HealAll(ctx))
		must(t, w.deployment.(cluster.Restarter).Restart(ctx, "master"))
		w.begin("clock", nemesis.Target{Nodes: atMaster.Nodes, By: time.Minute}) // finds out where it is
		must(t, w.HealAll(ctx))
	}, func(t *testing.T, _ string, ops []histories.Op) {
		if len(ops) != 2 || !strings.HasPrefix(ops[0].Complete.Value, "the server is dead") || ops[1].Outcome() != histories.OK {
			t.Errorf("recorded %+v", ops)
		}
	})
}

// A clock fault of a server that was started again is over, too.
func TestClockOfAServerThatIsStartedAgain(t *testing.T) {
	everywhereClocked(t, func(w world) {
		for kind, target := range map[string]nemesis.Target{
			"clock": {Nodes: atMaster.Nodes, By: time.Hour}, "clock-rate": {Nodes: atMaster.Nodes, Rate: 200},
		} {
			w.begin(kind, target)
			must(t, w.deployment.(cluster.Killer).Kill(ctx, "master"))
			must(t, w.deployment.(cluster.Restarter).Restart(ctx, "master"))
			time.Sleep(100 * time.Millisecond) // at its rate the clock would be 20 s ahead
			must(t, w.HealAll(ctx))
		}
	}, func(t *testing.T, _ string, ops []histories.Op) {
		for _, op := range ops {
			if !strings.HasPrefix(op.Complete.Value, "the server was started again") || op.Outcome() != histories.OK {
				t.Errorf("recorded %+v", op)
			}
		}
		if len(ops) != 2 {
			t.Errorf("%d faults, want 2", len(ops))
		}
	})
}

// tardy are servers that TIME takes a while to reach.
type tardy struct {
	deployment
	cluster.ClockSetter
	clock nemesis.Clock // virtual
}

func (d tardy) Do(ctx context.Context, node string, args ...string) (wire.Reply, error) {
	if args[0] == "TIME" {
		if err := d.clock.Sleep(ctx, 300*time.Millisecond); err != nil {
			return wire.Reply{}, err
		}
	}
	return d.deployment.Do(ctx, node, args...)
}

// TestSlowServerHasItsClockSetRight: of a server that is slow to tell its time, and is behind by less than that takes, it cannot be seen
// that its clock is right, and so it is set right.
func TestSlowServerHasItsClockSetRight(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) {
		w := world{tardy{c, c, clock}, i, t, clock}
		w.begin("clock-rate", nemesis.Target{Nodes: atMaster.Nodes, Rate: 0.86})
		must(t, clock.Sleep(ctx, time.Second))
		must(t, w.HealAll(ctx))
		reply, err := c.Do(ctx, "master", "TIME")
		must(t, err)
		shown, err := cluster.ReadTime(reply)
		must(t, err)
		if by := shown.Sub(clock.Now()).Abs(); by > time.Millisecond {
			t.Errorf("the clock is wrong by %v", by)
		}
	})
	if len(ops) != 1 || !strings.Contains(ops[0].Complete.Value, "set right") {
		t.Errorf("recorded %+v", ops)
	}
}

// unclocked hides that the clocks of a deployment can be set.
type unclocked struct{ deployment }

// Without libfaketime the jump is logical, and says so.
func TestLogicalClockJump(t *testing.T) {
	everywhere(t, func(w world) {
		w.want("OK", "SET", "early", "v", "PX", "60000")
		w.want("OK", "SET", "late", "v", "PX", "600000")
		w.want("OK", "SET", "never", "v")
		w.deployment = unclocked{w.deployment}
		w.begin("clock", nemesis.Target{Nodes: atMaster.Nodes, By: 2 * time.Minute})
		if w.lives("early") != 0 {
			t.Error("a key outlived its TTL")
		}
		if left := w.lives("late"); left > 8*time.Minute || left < 7*time.Minute {
			t.Errorf("the late key lives for another %v, want 8m", left)
		}
		w.want("1", "EXISTS", "never")
		w.want("OK", "SET", "new", "v", "PX", "60000")
		if left := w.lives("new"); left > time.Minute || left < 30*time.Second {
			t.Errorf("a new key lives for %v, want 1m", left)
		}
	}, seen(
		both("its clock jumps by 2m0s (logical: its expiries move, TIME does not)"),
		both("logical: 1 of 2 with a TTL expired"),
	))
}

// TestWhichClockFault looks at what a random run draws where clocks can be set and where not.
func TestWhichClockFault(t *testing.T) {
	kinds, err := nemesis.Find([]string{"clock", "clock-rate"})
	must(t, err)
	jump, rate := kinds[0], kinds[1]
	onProcess(t, process.Options{}, func(w world) {
		must(t, jump.Unsupported(w.deployment))
		if how := jump.Means(w.deployment); !strings.HasPrefix(how, "logical") {
			t.Errorf("it jumps %s", how)
		}
		fault, ok := jump.Draw(scene(w), random())
		if !ok || !strings.Contains(fault.Plan, "logical") {
			t.Errorf("drew %+v", fault)
		}
		if err := rate.Unsupported(w.deployment); err == nil {
			t.Error("a rate cannot be had")
		}
		if _, ok := rate.Draw(scene(w), random()); ok {
			t.Error("a rate was drawn")
		}
	})
	everywhereClocked(t, func(w world) {
		for _, k := range kinds {
			must(t, k.Unsupported(w.deployment))
			fault, ok := k.Draw(scene(w), random())
			if !ok || strings.Contains(fault.Plan, "logical") {
				t.Errorf("drew %+v", fault)
			}
			w.start(fault)
			must(t, w.HealAll(ctx))
		}
	}, func(*testing.T, string, []histories.Op) {})
}

// stopped is a right clock that goes on by hand.
type stopped struct{ now *time.Time }

func (s stopped) Now() time.Time                           { return *s.now }
func (stopped) Sleep(context.Context, time.Duration) error { return nil }

// stubborn is a clock that does not do what it is told.
type stubborn struct{ shown time.Time }

func (stubborn) Set(context.Context, time.Duration, float64) error { return nil }
func (s stubborn) Read(context.Context) (time.Time, error) {
	if s.shown.IsZero() {
		return s.shown, errors.New("no answer")
	}
	return s.shown, nil
}

// TestAClockThatDoesNotMove checks that a fault looks at what it did.
func TestAClockThatDoesNotMove(t *testing.T) {
	now := time.Unix(1000, 0)
	fault := func(word string, c stubborn, target nemesis.Target) nemesis.Fault {
		return made(t, nemesis.Scene{Clients: []nemesis.Victim{{Name: "A", Clock: c}}, Clock: stopped{&now}}, word, target)
	}
	for name, c := range map[string]stubborn{"right": {now}, "silent": {}} {
		f := fault("client-clock", c, nemesis.Target{Clients: atA.Clients, By: time.Second})
		if _, err := f.Start(ctx); err == nil {
			t.Errorf("%s: it says that it has jumped", name)
		}
	}
	f := fault("client-clock-rate", stubborn{now}, nemesis.Target{Clients: atA.Clients, Rate: 2})
	_, err := f.Start(ctx)
	must(t, err)
	now = now.Add(time.Second)
	if seen, err := f.Stop(ctx); err == nil {
		t.Errorf("a clock that stood still was seen like this: %s", seen)
	}
}
