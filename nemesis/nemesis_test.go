package nemesis_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

var ctx = context.Background()

// on runs f with an injector and a replicated deployment in virtual time, and returns
// the faults as the history tells them.
func on(t *testing.T, f func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source)) []histories.Op {
	t.Helper()
	rec := histories.NewRecorder(nil)
	if err := sim.Run(1, time.Minute, func(w *sim.World) error {
		c, err := embedded.New(w, cluster.Topology{Masters: 1, Replicas: 1}, embedded.Options{})
		if err != nil {
			return err
		}
		rec.Start(w.Now)
		f(nemesis.NewInjector(rec), c, w.Source())
		return c.Close()
	}); err != nil {
		t.Fatal(err)
	}
	ops, err := histories.Pair(rec.Events())
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask sends a command over a connection of its own.
func ask(t *testing.T, c cluster.Cluster, node string, args ...string) (string, error) {
	t.Helper()
	conn, err := c.Dial(ctx, "A", node)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return exchange(conn, args...)
}

// exchange sends one command over conn.
func exchange(conn net.Conn, args ...string) (string, error) {
	reply, err := wire.NewConn(conn).Do(ctx, args...)
	if err != nil {
		return "", err
	}
	return reply.Text(), reply.Err()
}

func TestKill(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, _ *sim.Source) {
		must(t, i.Start(ctx, made(t, nemesis.Scene{Cluster: c}, "kill", atMaster)))
		if _, err := ask(t, c, "master", "PING"); err == nil || c.Alive("master") {
			t.Error("the node is still there")
		}
		if i.InForce(nemesis.KillF, "master") {
			t.Error("a kill is over at once")
		}
	})
	if len(ops) != 1 || ops[0].Outcome() != histories.OK || ops[0].Invoke.Node != "master" {
		t.Errorf("recorded %+v", ops)
	}
}

func TestCutReplicationAndPromote(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) {
		must(t, i.Start(ctx, made(t, nemesis.Scene{Cluster: c}, "cut-replication", nemesis.Target{Replica: "replica"})))
		_, err := ask(t, c, "master", "SET", "k", "v")
		must(t, err)
		_ = clock.Sleep(ctx, time.Hour)
		if v, _ := ask(t, c, "replica", "GET", "k"); v == "v" {
			t.Error("the write crossed a cut link")
		}
		must(t, i.HealAll(ctx))
		must(t, c.Sync(ctx, "master"))
		if v, _ := ask(t, c, "replica", "GET", "k"); v != "v" {
			t.Error("the write did not cross the healed link")
		}
		must(t, i.Start(ctx, made(t, sceneOf(c, clock), "promote", nemesis.Target{Replica: "replica"})))
		if p := c.Primary(0); p != "replica" {
			t.Errorf("the primary is %s", p)
		}
	})
	if len(ops) != 2 || !strings.Contains(ops[1].Complete.Value, "1 of 1 of the old one's stream, and knows k") {
		t.Errorf("recorded %+v", ops)
	}
}

func TestPause(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) {
		gate := new(nemesis.Gate)
		if gate.Wait(ctx) {
			t.Error("an open gate makes people wait")
		}
		must(t, i.Start(ctx, made(t, sceneOf(c, clock, nemesis.Victim{Name: "A", Gate: gate}), "pause", atA)))
		began := clock.Now()
		done := make(chan time.Duration, 2)
		go func() {
			gate.Wait(ctx)
			done <- clock.Now().Sub(began)
		}()
		go func() {
			_, _ = ask(t, c, "master", "PING")
			done <- clock.Now().Sub(began)
		}()
		_ = clock.Sleep(ctx, time.Minute)
		must(t, i.Stop(ctx, nemesis.PauseF, "A"))
		for range 2 {
			if took := <-done; took < time.Minute {
				t.Errorf("a paused client went on after %v", took)
			}
		}
	})
	if got, want := ops[0].Complete.Value, "client goes on; had stood still: 1 call, 1 connection"; got != want {
		t.Errorf("seen %q, want %q", got, want)
	}
}

// TestPauseThawed: somebody else let the client go on.
func TestPauseThawed(t *testing.T) {
	on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) {
		must(t, i.Start(ctx, made(t, sceneOf(c, clock, nemesis.Victim{Name: "A", Gate: new(nemesis.Gate)}), "pause", atA)))
		c.Link("A", "master").Thaw()
		if err := i.HealAll(ctx); err == nil {
			t.Error("a pause that did not last was taken for one")
		}
	})
}

// TestHoldOfNothing: a rule that caught nothing, or whose connection broke.
func TestHoldOfNothing(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, _ *sim.Source) {
		link := c.Link("A", "master")
		hold := link.HoldRequest(wire.Match{Names: []string{"SET"}})
		if err := i.Start(ctx, nemesis.Hold("A", hold)); err == nil {
			t.Error("a rule that holds nothing was taken for a fault")
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = ask(t, c, "master", "SET", "k", "v")
		}()
		<-hold.Seen()
		must(t, i.Start(ctx, nemesis.Hold("A", hold)))
		link.Cut()
		<-done
		must(t, i.HealAll(ctx))
	})
	if got, want := ops[1].Complete.Value, "its connection has ended meanwhile, and nothing goes on"; got != want {
		t.Errorf("seen %q, want %q", got, want)
	}
}

func TestHold(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, _ *sim.Source) {
		hold := c.Link("A", "master").HoldRequest(wire.Match{Names: []string{"SET"}})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = ask(t, c, "master", "SET", "k", "v")
		}()
		<-hold.Seen()
		must(t, i.Start(ctx, nemesis.Hold("A", hold)))
		if keys, _ := c.Inspect(ctx, "master", 0, "k"); keys[0].Exists {
			t.Error("the command was executed while it was held")
		}
		must(t, i.Stop(ctx, nemesis.HoldF, "A"))
		<-done
		if keys, _ := c.Inspect(ctx, "master", 0, "k"); !keys[0].Exists {
			t.Error("the command was lost")
		}
	})
	if len(ops) != 1 || ops[0].Invoke.Value != "SET k v" {
		t.Errorf("recorded %+v", ops)
	}
}

// TestHoldOnServers holds one command on two servers; on one its connection breaks.
func TestHoldOnServers(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, _ *sim.Source) {
		var holds []*wire.Hold
		var done sync.WaitGroup
		for _, node := range []string{"master", "replica"} {
			holds = append(holds, c.Link("A", node).HoldRequest(wire.Match{Names: []string{"GET"}}))
			done.Go(func() { _, _ = ask(t, c, node, "GET", "k") })
			<-holds[len(holds)-1].Seen()
		}
		must(t, i.Start(ctx, nemesis.Hold("A", holds...)))
		c.Link("A", "replica").Cut()
		must(t, i.HealAll(ctx))
		done.Wait()
	})
	if len(ops) != 1 || ops[0].Invoke.Value != "GET k on 2 servers" || ops[0].Complete.Value != "it was held until now, and goes on on 1 of 2 servers" {
		t.Errorf("recorded %+v", ops)
	}
}

// TestHealAll checks the order of healing and what is recorded of faults that fail.
func TestHealAll(t *testing.T) {
	var healed []string
	fault := func(name string, start, stop error) nemesis.Fault {
		return nemesis.Fault{
			F: "test", Target: name,
			Start: func(context.Context) (string, error) { return "it began", start },
			Stop: func(context.Context) (string, error) {
				healed = append(healed, name)
				return "", stop
			},
		}
	}
	boom := errors.New("boom")
	ops := on(t, func(i *nemesis.Injector, _ *embedded.Cluster, _ *sim.Source) {
		must(t, i.Start(ctx, fault("first", nil, nil)))
		must(t, i.Start(ctx, fault("second", nil, boom)))
		if err := i.Start(ctx, fault("never", boom, nil)); !errors.Is(err, boom) {
			t.Errorf("starting: %v", err)
		}
		if err := i.HealAll(ctx); !errors.Is(err, boom) {
			t.Errorf("healing: %v", err)
		}
		if err := i.HealAll(ctx); err != nil {
			t.Errorf("healing again: %v", err)
		}
		if err := i.Stop(ctx, "test", "first"); err == nil {
			t.Error("a fault that is over was stopped")
		}
	})
	if got := strings.Join(healed, " "); got != "second first" {
		t.Errorf("healed %q, want the latest first", got)
	}
	for _, o := range ops {
		want := histories.Info
		if o.Invoke.Node == "first" {
			want = histories.OK
		}
		if o.Outcome() != want {
			t.Errorf("%s ended as %v, want %v", o.Invoke.Node, o.Outcome(), want)
		}
	}
}

// TestUnseen: a fault of which nobody has seen anything did not happen.
func TestUnseen(t *testing.T) {
	nothing := func(context.Context) (string, error) { return "", nil }
	something := func(context.Context) (string, error) { return "it shows", nil }
	ops := on(t, func(i *nemesis.Injector, _ *embedded.Cluster, _ *sim.Source) {
		if i.Start(ctx, nemesis.Fault{F: "test", Target: "at once", Start: nothing}) == nil {
			t.Error("a fault that was over at once was taken for granted")
		}
		must(t, i.Start(ctx, nemesis.Fault{F: "test", Target: "never", Start: nothing, Stop: nothing}))
		if i.HealAll(ctx) == nil {
			t.Error("a fault that was healed was taken for granted")
		}
		must(t, i.Start(ctx, nemesis.Fault{F: "test", Target: "both", Start: something, Stop: something}))
		must(t, i.HealAll(ctx))
	})
	for _, o := range ops {
		want, value := histories.Info, ""
		if o.Invoke.Node == "both" {
			want, value = histories.OK, "it shows; it shows"
		}
		if o.Outcome() != want || o.Complete.Value != value {
			t.Errorf("%s ended as %v, %q", o.Invoke.Node, o.Outcome(), o.Complete.Value)
		}
	}
}
