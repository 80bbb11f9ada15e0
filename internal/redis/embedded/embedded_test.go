package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/wire"
)

var (
	_ cluster.Cluster     = (*embedded.Cluster)(nil)
	_ cluster.Killer      = (*embedded.Cluster)(nil)
	_ cluster.Restarter   = (*embedded.Cluster)(nil)
	_ cluster.Pauser      = (*embedded.Cluster)(nil)
	_ cluster.ClockSetter = (*embedded.Cluster)(nil)
	_ cluster.Replicator  = (*embedded.Cluster)(nil)
	_ cluster.VirtualTime = (*embedded.Cluster)(nil)
)

// world is a deployment inside a bubble.
type world struct {
	*embedded.Cluster
	t      *testing.T
	sim    *sim.World
	source *sim.Source
	conns  map[string]*wire.Conn
}

// in runs f on a fresh deployment in virtual time.
func in(t *testing.T, topo cluster.Topology, f func(w *world)) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	if err := sim.Run(1, time.Minute, func(s *sim.World) error {
		c, err := embedded.New(s, topo, embedded.Options{})
		if err != nil {
			return err
		}
		w := &world{c, t, s, s.Source(), map[string]*wire.Conn{}}
		f(w)
		for _, conn := range w.conns {
			_ = conn.Close()
		}
		return c.Close()
	}); err != nil {
		t.Fatal(err)
	}
}

// do sends a command to node and returns the reply as text.
func (w *world) do(node string, args ...string) string {
	w.t.Helper()
	ctx := context.Background()
	if w.conns[node] == nil {
		c, err := w.Dial(ctx, "client", node)
		if err != nil {
			return err.Error()
		}
		w.conns[node] = wire.NewConn(c)
	}
	reply, err := w.conns[node].Do(ctx, args...)
	if err != nil {
		return err.Error()
	}
	if err := reply.Err(); err != nil {
		return err.Error()
	}
	return reply.Text()
}

func (w *world) want(want, node string, args ...string) {
	w.t.Helper()
	if got := w.do(node, args...); !strings.Contains(got, want) {
		w.t.Errorf("%s at %v: %v answered %q, want %q", node, w.sim.Now(), args, got, want)
	}
}

func (w *world) sleep(d time.Duration) { _ = w.source.Sleep(context.Background(), d) }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

var (
	single     = cluster.Topology{Masters: 1}
	replicated = cluster.Topology{Masters: 1, Replicas: 1}
	ctx        = context.Background()
)

func TestLeaseEndsInVirtualTime(t *testing.T) {
	in(t, single, func(w *world) {
		w.want("OK", "master", "SET", "k", "v", "NX", "PX", "30000")
		w.sleep(29 * time.Second)
		w.want("v", "master", "GET", "k")
		keys, err := w.Inspect(ctx, "master", 0, "k", "none")
		w.must(err)
		if k := keys[0]; !k.Exists || k.Value != "v" || k.TTL > time.Second || k.TTL <= 0 {
			t.Errorf("inspect found %+v", k)
		}
		if keys[1].Exists {
			t.Errorf("inspect found %+v", keys[1])
		}
		w.sleep(time.Second)
		w.want("", "master", "GET", "k")
		w.want("OK", "master", "SET", "k", "w", "NX")
		if keys, _ := w.Inspect(ctx, "master", 0, "k"); keys[0].TTL != histories.NoTTL {
			t.Errorf("a key without TTL has %v", keys[0].TTL)
		}
	})
}

func TestInspectFields(t *testing.T) {
	in(t, single, func(w *world) {
		w.want("2", "master", "HSET", "hash", "f", "v", "e", "w")
		w.want("2", "master", "ZADD", "set", "1.5", "second", "3795261152000001", "first")
		got, err := w.Inspect(ctx, "master", 0, "hash", "set")
		w.must(err)
		want := []cluster.KeyState{
			{Key: "hash", Exists: true, Type: "hash", TTL: histories.NoTTL, Fields: []cluster.Field{{Name: "e", Value: "w"}, {Name: "f", Value: "v"}}},
			{
				Key: "set", Exists: true, Type: "zset", TTL: histories.NoTTL,
				Fields: []cluster.Field{{Name: "first", Value: "3795261152000001"}, {Name: "second", Value: "1.5"}},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestReplicationLagsAndCatchesUp(t *testing.T) {
	in(t, replicated, func(w *world) {
		w.want("OK", "master", "SET", "k", "v", "PX", "60000")
		w.want("3", "master", "HSET", "h", "a", "1", "b", "2", "c", "3")
		if have, sent, _ := w.Offsets(ctx, "replica"); have == sent {
			t.Errorf("the replica has %d of %d at once", have, sent)
		}
		w.must(w.Sync(ctx, "master"))
		w.want("v", "replica", "GET", "k")
		w.want("2", "replica", "HGET", "h", "b")
		w.want("READONLY", "replica", "SET", "k", "x")
		w.want("READONLY", "replica", "EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", "k")
		if have, sent, _ := w.Offsets(ctx, "replica"); have != sent || sent != 2 {
			t.Errorf("the replica has %d of %d, want 2 of 2", have, sent)
		}
		w.sleep(time.Minute)
		w.want("", "replica", "GET", "k")
	})
}

func TestPromotionDropsWhatDidNotArrive(t *testing.T) {
	for _, cut := range []bool{false, true} {
		t.Run(fmt.Sprintf("cut=%v", cut), func(t *testing.T) {
			in(t, replicated, func(w *world) {
				w.want("OK", "master", "SET", "old", "v")
				w.must(w.Sync(ctx, "master"))
				if cut {
					w.must(w.CutReplication(ctx, "replica"))
				}
				w.want("OK", "master", "SET", "new", "v")
				if cut {
					w.sleep(time.Hour)
				}
				w.must(w.Kill(ctx, "master"))
				w.must(w.Promote(ctx, "replica"))
				if p := w.Primary(0); p != "replica" {
					t.Errorf("the primary is %s", p)
				}
				w.sleep(time.Hour)
				w.must(w.HealReplication(ctx, "replica")) // too late: it follows nobody
				w.sleep(time.Hour)
				w.want("v", "replica", "GET", "old")
				w.want("", "replica", "GET", "new")
				w.want("OK", "replica", "SET", "new", "w", "NX")
			})
		})
	}
}

// Time that passes is no change: what is on its way ends when it ended on the master, whenever
// that is looked at, and the stream does not go on by itself.
func TestTimeIsNoChange(t *testing.T) {
	in(t, cluster.Topology{Masters: 1, Replicas: 2}, func(w *world) {
		stream := func(replica string, want int64) {
			t.Helper()
			if have, sent, err := w.Offsets(ctx, replica); err != nil || have != want || sent != want {
				t.Errorf("%s has %d of %d changes, want all %d; %v", replica, have, sent, want, err)
			}
		}
		w.want("OK", "master", "SET", "k", "v", "PX", "60000")
		w.must(w.Sync(ctx, "master"))
		w.sleep(time.Second)
		w.want("v", "master", "GET", "k")
		w.must(w.Sync(ctx, "master"))
		stream("replica1", 1)
		stream("replica2", 1)

		w.must(w.Kill(ctx, "master"))
		w.must(w.Promote(ctx, "replica2"))
		w.sleep(time.Second) // nobody has asked it what time it is
		if _, err := w.Demote(ctx, "replica1"); err != nil {
			t.Fatal(err)
		}
		w.sleep(time.Second)
		w.want("v", "replica2", "GET", "k")
		w.sleep(time.Second)
		stream("replica1", 1)
		for _, node := range []string{"replica1", "replica2"} {
			keys, err := w.Inspect(ctx, node, 0, "k")
			w.must(err)
			if end := w.sim.Now() + keys[0].TTL; end < time.Minute || end > time.Minute+time.Second {
				t.Errorf("on %s the key ends at %v", node, end)
			}
		}
	})
}

func TestHealingResynchronises(t *testing.T) {
	in(t, replicated, func(w *world) {
		w.must(w.CutReplication(ctx, "replica"))
		w.want("OK", "master", "SET", "k", "v")
		if err := w.Sync(ctx, "master"); err == nil {
			t.Error("Sync over a cut link succeeded")
		}
		w.must(w.HealReplication(ctx, "replica"))
		w.must(w.Sync(ctx, "master"))
		w.want("v", "replica", "GET", "k")
	})
}

func TestWait(t *testing.T) {
	in(t, cluster.Topology{Masters: 1, Replicas: 2}, func(w *world) {
		w.want("OK", "master", "SET", "k", "v")
		w.want("2", "master", "WAIT", "2", "1000")
		w.must(w.CutReplication(ctx, "replica1"))
		w.want("OK", "master", "SET", "k", "w")
		before := w.sim.Now()
		w.want("1", "master", "WAIT", "2", "1000")
		if took := w.sim.Now() - before; took < time.Second {
			t.Errorf("WAIT gave up after %v", took)
		}
		w.want("1", "master", "WAIT", "1", "0")
	})
}

// What another connection wrote is nothing to WAIT, and replicas that are not connected do not
// count.
func TestWaitIsOfItsConnection(t *testing.T) {
	in(t, cluster.Topology{Masters: 1, Replicas: 2}, func(w *world) {
		w.want("OK", "master", "SET", "k", "v")
		w.must(w.Sync(ctx, "master"))
		w.must(w.LagReplication(ctx, "replica1", time.Hour))
		w.must(w.LagReplication(ctx, "replica2", time.Hour))
		w.want("OK", "master", "SET", "k", "w")
		w.conns["writer"], w.conns["master"] = w.conns["master"], nil
		w.want("w", "master", "GET", "k")
		before := w.sim.Now()
		w.want("2", "master", "WAIT", "2", "1000")
		if took := w.sim.Now() - before; took >= time.Second {
			t.Errorf("WAIT took %v for a connection that wrote nothing", took)
		}
		w.want("0", "writer", "WAIT", "1", "1000")
		w.must(w.CutReplication(ctx, "replica1"))
		w.want("1", "master", "WAIT", "2", "1000")
		w.must(w.Kill(ctx, "replica2"))
		w.want("0", "master", "WAIT", "1", "1000")

		// One that comes back counts again once it has its copy.
		w.must(w.LagReplication(ctx, "replica1", time.Second))
		w.must(w.HealReplication(ctx, "replica1"))
		w.want("0", "master", "WAIT", "1", "500")
		w.want("1", "master", "WAIT", "1", "1000")
		w.want("1", "writer", "WAIT", "1", "0")
	})
}

// The last change of a connection is what counts, also one that a script or EXEC made.
func TestWaitCountsTheLastChange(t *testing.T) {
	in(t, replicated, func(w *world) {
		w.want("OK", "master", "SET", "k", "v")
		w.must(w.Sync(ctx, "master"))
		w.must(w.LagReplication(ctx, "replica", time.Minute))
		w.want("", "master", "SET", "k", "w", "NX") // changes nothing
		w.want("1", "master", "WAIT", "1", "1000")
		for _, change := range [][][]string{
			{{"RENAME", "k", "l"}},
			{{"EVAL", "return redis.call('INCR', KEYS[1])", "1", "n"}},
			{{"MULTI"}, {"INCR", "n"}, {"EXEC"}},
		} {
			for _, command := range change {
				w.do("master", command...)
			}
			w.want("0", "master", "WAIT", "1", "1000")
			w.sleep(time.Minute)
			w.want("1", "master", "WAIT", "1", "1000")
		}
	})
}

func TestKillAndRestart(t *testing.T) {
	in(t, cluster.Topology{Masters: 3}, func(w *world) {
		w.want("OK", "n2", "SET", "k", "v")
		w.must(w.Kill(ctx, "n2"))
		if w.Alive("n2") || !w.Alive("n1") {
			t.Error("the wrong node died")
		}
		if got := w.do("n2", "PING"); !strings.Contains(got, "EOF") && !strings.Contains(got, "closed") {
			t.Errorf("the old connection answered %q", got)
		}
		delete(w.conns, "n2")
		var refused *net.OpError
		if _, err := w.Dial(ctx, "client", "n2"); !errors.As(err, &refused) {
			t.Errorf("dialling a dead node: %v", err)
		}
		w.must(w.Restart(ctx, "n2"))
		w.want("", "n2", "GET", "k")
		w.want("OK", "n2", "SET", "k", "w", "NX")
	})
}

func TestPause(t *testing.T) {
	in(t, single, func(w *world) {
		w.want("OK", "master", "SET", "k", "v", "PX", "1000")
		w.must(w.Pause(ctx, "master"))
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.want("", "master", "GET", "k") // the TTL ran while the node stood still
			if w.sim.Now() < 5*time.Second {
				t.Errorf("a paused node answered at %v", w.sim.Now())
			}
		}()
		w.sleep(5 * time.Second)
		w.must(w.Resume(ctx, "master"))
		<-done
	})
}

func TestUnknownNode(t *testing.T) {
	in(t, single, func(w *world) {
		if err := w.Kill(ctx, "n9"); err == nil || !strings.Contains(err.Error(), "n9") {
			t.Errorf("killing a node that is not there: %v", err)
		}
		if err := w.Promote(ctx, "master"); err == nil {
			t.Error("a master was promoted")
		}
	})
}
