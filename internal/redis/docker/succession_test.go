package docker

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

// Masters that come and go, one after another on one deployment: a demotion, a split brain,
// and a replica that falls behind and takes over. Each loses what it must, and leaves one
// master that all others follow.
func TestSuccessions(t *testing.T) {
	c := up(t, 1, 2)
	ctx := soon(t)
	rec := histories.NewRecorder(nil)
	rec.Start(func() time.Duration { return 0 })
	faults := nemesis.NewInjector(rec)
	views := map[string]*cluster.View{"A": new(cluster.View), "B": new(cluster.View)}
	begin := func(word string, target nemesis.Target) {
		t.Helper()
		s := scene(c, nemesis.Victim{Name: "A", View: views["A"]}, nemesis.Victim{Name: "B", View: views["B"]})
		s.Kept.Names = []string{"split"}
		must(t, faults.Start(ctx, made(t, s, word, target)))
	}
	set := func(client, key, value string) string {
		t.Helper()
		reply, err := dial(t, c, client, views[client].Primary(c, 0)).Do(ctx, "SET", key, value, "NX")
		must(t, err)
		if err := reply.Err(); err != nil {
			return err.Error()
		}
		return reply.Text()
	}
	want := func(got, want string) {
		t.Helper()
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	whole := func(master string, key, value string) {
		t.Helper()
		want(c.Primary(0), master)
		must(t, c.Sync(ctx, master))
		for _, n := range []string{"master", "replica1", "replica2"} {
			if n != master {
				want(c.Master(n), master)
			}
			states, err := c.Inspect(ctx, n, 0, key)
			must(t, err)
			want(states[0].Value, value)
		}
	}
	must(t, c.Sync(ctx, "master"))

	begin("demote", nemesis.Target{Replica: "replica1"})
	want(set("A", "k", "A"), "READONLY")
	must(t, faults.HealAll(ctx))
	want(set("A", "k", "A"), "OK")
	whole("replica1", "k", "A")

	begin("split-brain", nemesis.Target{Clients: []string{"A"}})
	want(set("A", "split", "A"), "OK")
	want(set("B", "split", "B"), "OK")
	must(t, faults.HealAll(ctx))
	whole("master", "split", "B")

	begin("partial-replication", nemesis.Target{Replica: "replica2"})
	want(set("A", "partial", "A"), "OK")
	must(t, faults.HealAll(ctx))
	want(set("B", "partial", "B"), "OK")
	whole("replica2", "partial", "B")
}
