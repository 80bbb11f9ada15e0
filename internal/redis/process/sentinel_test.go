package process

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

func guarded(t *testing.T, replicas int) *Cluster {
	t.Helper()
	return upAs(t, cluster.Topology{Masters: 1, Replicas: replicas, Sentinels: 3})
}

// patient is a context for waits for Sentinels, who may need a second attempt, or distrust the
// machine's clock for 30 s.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// elected waits for the Sentinels.
func elected(t *testing.T, c *Cluster, old string) cluster.Election {
	t.Helper()
	e, err := c.Elected(patient(t), old)
	must(t, err)
	return e
}

// Sentinels that nobody helps promote the replica of a dead master, and know a new one
// when the old one comes back.
func TestSentinelsFailOver(t *testing.T) {
	c := guarded(t, 1)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	must(t, c.Sync(soon(t), "master"))
	nodes := []string{"master", "replica"}
	for range 2 {
		old, next := nodes[0], nodes[1]
		must(t, c.Kill(soon(t), old))
		e := elected(t, c, old)
		if e.Node != next || c.Primary(0) != next || e.Down <= 0 || e.Switched < e.Down {
			t.Errorf("%s died: %+v, the primary is %s", old, e, c.Primary(0))
		}
		if got := value(t, c, next, "k").Value; got != "v" {
			t.Errorf("%s has %q, want v", next, got)
		}
		mustDo(t, dial(t, c, "A", next), "SET", "k", "v")
		must(t, c.Restart(soon(t), old))
		must(t, c.Sync(soon(t), next))
		if got := c.Master(old); got != next {
			t.Errorf("%s follows %q, want %s", old, got, next)
		}
		if got := value(t, c, old, "k").Value; got != "v" {
			t.Errorf("%s has %q after it came back, want v", old, got)
		}
		nodes[0], nodes[1] = next, old
	}
}

// inStep returns the primary, once all others have what it has. On a busy machine Sentinels
// may take a living one for dead, and choose again.
func inStep(t *testing.T, c *Cluster) string {
	t.Helper()
	ctx := patient(t)
	for {
		primary := c.Primary(0)
		trying, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := c.Sync(trying, primary)
		cancel()
		switch {
		case err == nil && c.Primary(0) == primary:
			return primary
		case ctx.Err() != nil:
			t.Fatal(err)
		}
	}
}

// The other replica follows the new master too, and so does the old one when it comes back.
func TestSentinelsTellTheOthers(t *testing.T) {
	c := guarded(t, 2)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	must(t, c.Sync(soon(t), "master"))
	must(t, c.Kill(soon(t), "master"))
	elected(t, c, "master")
	must(t, c.Restart(soon(t), "master"))
	primary := inStep(t, c)
	for _, n := range []string{"master", "replica1", "replica2"} {
		if n != primary && c.Master(n) != primary {
			t.Errorf("%s follows %q, want %s", n, c.Master(n), primary)
		}
		if got := value(t, c, n, "k").Value; got != "v" {
			t.Errorf("%s has %q, want v", n, got)
		}
	}
}

// A master that only the Sentinels and the replica do not reach lives on: the write that it
// took is lost when the Sentinels make it a replica.
func TestSentinelsCutOff(t *testing.T) {
	c := guarded(t, 1)
	must(t, c.CutReplication(soon(t), "replica"))
	for _, s := range []string{"sentinel1", "sentinel2", "sentinel3"} {
		c.Link(s, "master").Cut()
	}
	old := dial(t, c, "A", "master")
	mustDo(t, old, "SET", "k", "lost", "NX")
	if e := elected(t, c, "master"); e.Node != "replica" {
		t.Errorf("elected %+v", e)
	}
	mustDo(t, dial(t, c, "B", "replica"), "SET", "k", "kept", "NX")
	if got := mustDo(t, old, "GET", "k"); got != "lost" {
		t.Errorf("the old master has %q, want lost", got)
	}
	for _, s := range []string{"sentinel1", "sentinel2", "sentinel3"} {
		c.Link(s, "master").Heal()
	}
	waiting := patient(t)
	for { // the Sentinels take 10 s to be sure, and then end the connections too
		if keys, err := c.Inspect(waiting, "master", 0, "k"); err == nil && keys[0].Value == "kept" {
			break
		}
		select {
		case <-waiting.Done():
			t.Fatal("the Sentinels did not make the old master a replica")
		case <-time.After(poll):
		}
	}
}

func TestSentinelsNeedReplicas(t *testing.T) {
	for _, topo := range []cluster.Topology{{Masters: 1, Sentinels: 3}, {Masters: 1, Replicas: 1, Sentinels: 2}} {
		if c, err := New(t.Context(), topo, Options{}); err == nil {
			must(t, c.Close())
			t.Errorf("%v was started", topo)
		}
	}
}
