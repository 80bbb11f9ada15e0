package nemesis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/redis/process"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/nemesis"
)

// replicated is a deployment whose masters have replicas.
type replicated interface {
	deployment
	cluster.Demoter
	cluster.Killer
}

// realm is a replicated deployment with an injector, and what its clients A and B believe.
type realm struct {
	world
	replicated
	a, b *cluster.View
}

// withReplicas runs f in virtual time and on real servers, and hands the history that
// either leaves to look, if it is not nil.
func withReplicas(t *testing.T, replicas int, f func(w realm), look func(t *testing.T, ops []histories.Op)) {
	t.Helper()
	topo := cluster.Topology{Masters: 1, Replicas: replicas}
	run := func(t *testing.T, c replicated, now func() time.Duration, clock nemesis.Clock) {
		rec := histories.NewRecorder(nil)
		rec.Start(now)
		f(realm{world{c, nemesis.NewInjector(rec), t, clock}, c, new(cluster.View), new(cluster.View)})
		ops, err := histories.Pair(rec.Events())
		must(t, err)
		if look != nil {
			look(t, ops)
		}
	}
	t.Run("embedded", func(t *testing.T) {
		must(t, sim.Run(1, time.Minute, func(w *sim.World) error {
			c, err := embedded.New(w, topo, embedded.Options{})
			if err == nil {
				run(t, c, w.Now, w.Source())
				err = c.Close()
			}
			return err
		}))
	})
	t.Run("process", func(t *testing.T) {
		locktest.NeedRedis(t)
		c, err := process.New(t.Context(), topo, process.Options{Dir: t.TempDir()})
		must(t, err)
		defer func() { must(t, c.Close()) }()
		start := time.Now()
		run(t, c, func() time.Duration { return time.Since(start) }, realClock{})
	})
}

// at sends a command as a client to where that client takes the master to be, and compares
// the reply or the error.
func (r realm) at(client string, want string, args ...string) {
	r.t.Helper()
	view := map[string]*cluster.View{"A": r.a, "B": r.b}[client]
	got, err := r.as(client, view.Primary(r.replicated, 0), args...)
	if err != nil {
		got = err.Error()
	}
	if !strings.HasPrefix(got, want) {
		r.t.Errorf("%s: %v: got %q, want %q", client, args, got, want)
	}
}

// as sends a command of a client to a node.
func (r realm) as(client, node string, args ...string) (string, error) {
	conn, err := r.Dial(ctx, client, node)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return exchange(conn, args...)
}

// has says what a node holds under k.
func (r realm) has(want, node string) {
	r.t.Helper()
	keys, err := r.Inspect(ctx, node, 0, "k")
	must(r.t, err)
	if keys[0].Value != want {
		r.t.Errorf("%s has %q, want %q", node, keys[0].Value, want)
	}
}

// unreachable checks that a client cannot reach a node.
func (r realm) unreachable(client, node string) {
	r.t.Helper()
	if got, err := r.as(client, node, "PING"); err == nil {
		r.t.Errorf("%s reached %s: %s", client, node, got)
	}
}

// whole checks that every living node follows master, and has what is written there.
func (r realm) whole(master string) {
	r.t.Helper()
	if got := r.Primary(0); got != master {
		r.t.Errorf("the primary is %s, want %s", got, master)
	}
	r.at("A", "OK", "SET", "k", "new")
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	must(r.t, r.Sync(soon, master))
	for _, n := range r.Nodes() {
		if n.Role == cluster.Register || n.Name == master || !r.Alive(n.Name) {
			continue
		}
		if got := r.Master(n.Name); got != master {
			r.t.Errorf("%s follows %q, want %s", n.Name, got, master)
		}
		r.has("new", n.Name)
	}
}

func (r realm) victims() []nemesis.Victim {
	return []nemesis.Victim{{Name: "A", View: r.a}, {Name: "B", View: r.b}}
}

// wrote checks what the faults of a history recorded when they were over.
func wrote(want ...string) func(t *testing.T, ops []histories.Op) {
	return func(t *testing.T, ops []histories.Op) {
		t.Helper()
		if len(ops) != 1 || ops[0].Outcome() != histories.OK {
			t.Fatalf("recorded %+v", ops)
		}
		for _, w := range want {
			if got := ops[0].Complete.Value; !strings.Contains(got, w) {
				t.Errorf("seen %q, want %q in it", got, w)
			}
		}
	}
}

// Both sides of a split grant the same key, and the old side's grant is gone afterwards.
func TestSplitBrain(t *testing.T) {
	withReplicas(t, 1, func(w realm) {
		must(w.t, w.Sync(ctx, "master"))
		w.begin("split-brain", atA, w.victims()...)
		w.at("A", "OK", "SET", "k", "A", "NX")
		w.at("B", "OK", "SET", "k", "B", "NX")
		w.has("A", "master")
		w.has("B", "replica")
		w.unreachable("A", "replica")
		w.unreachable("B", "master")
		must(w.t, w.HealAll(ctx))
		must(w.t, w.Sync(ctx, "replica"))
		w.has("B", "master")
		w.at("A", "B", "GET", "k")
		if got, err := w.as("B", "master", "SET", "k", "v"); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
			w.t.Errorf("the old master took a write: %q, %v", got, err)
		}
		w.whole("replica")
	}, func(t *testing.T, ops []histories.Op) {
		wrote("at the end both sides have k, and not the same; healed: master follows replica and throws away ")(t, ops)
		if strings.HasSuffix(ops[0].Complete.Value, " 0 of its stream") {
			t.Errorf("nothing was thrown away: %s", ops[0].Complete.Value)
		}
		if got, want := ops[0].Invoke.Value, "master cut off from B and from replica, which is promoted; only A can reach it"; got != want {
			t.Errorf("planned %q, want %q", got, want)
		}
	})
}

// The wrong one of two replicas takes over, and a write that the other one had is lost.
func TestPartialReplication(t *testing.T) {
	withReplicas(t, 2, func(w realm) {
		must(w.t, w.Sync(ctx, "master"))
		w.begin("partial-replication", nemesis.Target{Replica: "replica2"})
		conn, err := w.Dial(ctx, "A", "master")
		must(w.t, err)
		defer conn.Close()
		for _, c := range []struct {
			want string
			args []string
		}{{"OK", []string{"SET", "k", "acknowledged", "NX"}}, {"1", []string{"WAIT", "1", "60000"}}} {
			if got, err := exchange(conn, c.args...); err != nil || got != c.want {
				w.t.Errorf("%v: %q, %v", c.args, got, err)
			}
		}
		w.has("acknowledged", "replica1")
		w.has("", "replica2")
		must(w.t, w.HealAll(ctx))
		w.at("B", "OK", "SET", "k", "granted again", "NX")
		w.whole("replica2")
	}, wrote("replica2 has ", "replica1 ", "; replica2 is promoted, master throws away ", ", replica1 throws away "))
}

// Clients that have not heard of the demotion are refused, and go on where the master is
// once they have.
func TestDemote(t *testing.T) {
	withReplicas(t, 1, func(w realm) {
		w.at("A", "OK", "SET", "k", "v")
		must(w.t, w.Sync(ctx, "master"))
		held, err := w.Dial(ctx, "A", "master")
		must(w.t, err)
		defer held.Close()
		if _, err := exchange(held, "PING"); err != nil {
			w.t.Fatal(err)
		}
		for _, nodes := range [][]string{{"master", "replica"}, {"replica", "master"}} {
			w.begin("demote", nemesis.Target{Replica: nodes[1]}, w.victims()...)
			w.at("A", "READONLY", "SET", "k", "w")
			w.at("B", "READONLY", "EVAL", "return redis.call('DEL', KEYS[1])", "1", "k")
			if nodes[0] == "master" { // a connection from before
				if _, err := exchange(held, "SET", "k", "w"); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
					w.t.Errorf("on the old connection: %v", err)
				}
			}
			must(w.t, w.HealAll(ctx))
			w.whole(nodes[1])
		}
	}, func(t *testing.T, ops []histories.Op) {
		for _, op := range ops {
			wrote("it answers writes with READONLY, and has thrown away 0 of its stream")(t, []histories.Op{op})
		}
	})
}

// A demotion that does not make the master refuse writes is no demotion.
func TestDemotionIsLookedAt(t *testing.T) {
	withReplicas(t, 1, func(w realm) {
		must(w.t, w.Sync(ctx, "master"))
		err := w.Start(ctx, made(w.t, sceneOf(obstinate{w}, w.clock), "demote", nemesis.Target{Replica: "replica"}))
		if err == nil || !strings.Contains(err.Error(), "READONLY") {
			w.t.Errorf("got %v, want an error that asks for READONLY", err)
		}
	}, nil)
}

// obstinate says that it demotes, and does not.
type obstinate struct{ realm }

func (obstinate) Demote(context.Context, string) (int64, error) { return 0, nil }

// Every replica can take over in its turn, and the others follow it.
func TestFailoverOncePerReplica(t *testing.T) {
	withReplicas(t, 2, func(w realm) {
		w.at("A", "OK", "SET", "k", "v")
		must(w.t, w.Sync(ctx, "master"))
		kinds, err := nemesis.Find([]string{"failover"})
		must(w.t, err)
		for _, next := range []string{"replica1", "replica2"} {
			fault, ok := kinds[0].Draw(nemesis.Scene{Cluster: w.replicated, Shards: 1}, random())
			if !ok {
				w.t.Fatal("nobody can take over")
			}
			w.start(fault)
			w.whole(next)
		}
		if fault, ok := kinds[0].Draw(nemesis.Scene{Cluster: w.replicated, Shards: 1}, random()); ok {
			w.t.Errorf("nobody is left, and the draw is %+v", fault)
		}
	}, nil)
}

// TestDrawnSuccessions draws each fault that needs replicas, twice, and sees it through.
func TestDrawnSuccessions(t *testing.T) {
	for _, k := range drawn() {
		if k.Replicas == 0 || k.Sentinels > 0 || k.Unsupported((*process.Cluster)(nil)) != nil {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			withReplicas(t, 2, func(w realm) {
				must(w.t, k.Unsupported(w.replicated))
				must(w.t, w.Sync(ctx, "master"))
				r := random()
				for range 2 {
					fault, ok := k.Draw(nemesis.Scene{
						Cluster: w.replicated, Shards: 1, Kept: cluster.Place{Names: []string{"k"}}, Clock: w.clock,
						Clients: []nemesis.Victim{
							{Name: "A", View: w.a, Holds: func() bool { return false }},
							{Name: "B", View: w.b, Holds: func() bool { return true }},
						},
					}, r)
					if !ok || fault.F != k.F {
						w.t.Fatalf("drew %+v, %v", fault, ok)
					}
					w.start(fault)
					must(w.t, w.HealAll(ctx))
					w.at("B", "OK", "SET", "k", "v")
					must(w.t, w.Sync(ctx, w.Primary(0)))
				}
			}, nil)
		})
	}
}

func TestSentinelFailover(t *testing.T) {
	locktest.NeedRedis(t)
	c, err := process.New(t.Context(), cluster.Topology{Masters: 1, Replicas: 1, Sentinels: 3}, process.Options{Dir: t.TempDir()})
	must(t, err)
	defer func() { must(t, c.Close()) }()
	rec := histories.NewRecorder(nil)
	start := time.Now()
	rec.Start(func() time.Duration { return time.Since(start) })
	w := realm{world{c, nemesis.NewInjector(rec), t, realClock{}}, c, new(cluster.View), new(cluster.View)}
	w.at("A", "OK", "SET", "k", "v")
	must(t, c.Sync(ctx, "master"))
	must(t, c.CutReplication(ctx, "replica"))
	w.at("A", "OK", "SET", "k", "lost")
	w.begin("sentinel", nemesis.Target{})
	w.has("v", "replica")
	must(t, w.HealAll(ctx))
	w.whole("replica")
	ops, err := histories.Pair(rec.Events())
	must(t, err)
	wrote("agreed to be dead after ", ", replica is the master after ", " of the old one's stream; the old one is back as a replica of replica")(t, ops)
	var down, switched string
	var have, sent int64
	if _, err := fmt.Sscanf(strings.ReplaceAll(ops[0].Complete.Value, ",", ""), "agreed to be dead after %s replica is the master after %s has %d of %d of", &down, &switched, &have, &sent); err != nil {
		t.Errorf("%q: %v", ops[0].Complete.Value, err)
	}
	if have <= 0 || have >= sent {
		t.Errorf("the replica had %d of %d, want a loss", have, sent)
	}
}
