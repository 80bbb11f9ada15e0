package embedded_test

import (
	"context"
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
)

var _ cluster.Demoter = (*embedded.Cluster)(nil)

// A demoted master refuses writes and scripts, forgets what it alone had, and can be
// promoted again.
func TestDemote(t *testing.T) {
	in(t, cluster.Topology{Masters: 1, Replicas: 2}, func(w *world) {
		ctx := context.Background()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		w.want("OK", "master", "SET", "both", "v")
		must(w.Sync(ctx, "master"))
		must(w.CutReplication(ctx, "replica1"))
		w.want("OK", "master", "SET", "lost", "v")
		w.want("1", "master", "INCR", "lost too")
		if _, err := w.Demote(ctx, "master"); err == nil {
			t.Error("the primary was demoted")
		}
		must(w.Promote(ctx, "replica1"))
		w.want("OK", "master", "SET", "lost as well", "v")
		must(w.Sync(ctx, "master"))
		for _, node := range []string{"replica2", "master"} {
			discarded, err := w.Demote(ctx, node)
			must(err)
			if discarded != 3 {
				t.Errorf("%s discarded %d changes, want 3", node, discarded)
			}
			if got := w.Master(node); got != "replica1" {
				t.Errorf("%s follows %q", node, got)
			}
		}
		w.want("READONLY You can't write against a read only replica.", "master", "SET", "k", "v")
		w.want("READONLY You can't write against a read only replica.", "master", "EVAL", "return 1", "0")
		w.want("OK", "replica1", "SET", "new", "v")
		must(w.Sync(ctx, "replica1"))
		for _, node := range []string{"master", "replica2"} {
			keys, err := w.Inspect(ctx, node, 0, "both", "lost", "lost too", "lost as well", "new")
			must(err)
			for i, want := range []bool{true, false, false, false, true} {
				if keys[i].Exists != want {
					t.Errorf("%s: %+v, want exists=%v", node, keys[i], want)
				}
			}
		}
		// And back again.
		must(w.Promote(ctx, "master"))
		discarded, err := w.Demote(ctx, "replica1")
		must(err)
		if discarded != 0 || w.Primary(0) != "master" {
			t.Errorf("discarded %d, the primary is %s", discarded, w.Primary(0))
		}
		w.want("OK", "master", "SET", "k", "v")
		must(w.Sync(ctx, "master"))
		w.want("v", "replica1", "GET", "k")
	})
}

// A replica of a replica gets what its master gets.
func TestReplicaOfADemotedMaster(t *testing.T) {
	in(t, cluster.Topology{Masters: 1, Replicas: 2}, func(w *world) {
		ctx := context.Background()
		if err := w.Promote(ctx, "replica1"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Demote(ctx, "master"); err != nil {
			t.Fatal(err)
		}
		w.want("OK", "replica1", "SET", "k", "v")
		for _, master := range []string{"replica1", "master"} {
			if err := w.Sync(ctx, master); err != nil {
				t.Fatal(err)
			}
		}
		w.want("v", "replica2", "GET", "k")
	})
}

func TestNoEmbeddedSentinels(t *testing.T) {
	if c, err := embedded.New(nil, cluster.Topology{Masters: 1, Replicas: 1, Sentinels: 3}, embedded.Options{}); err == nil {
		_ = c.Close()
		t.Error("Sentinels in virtual time were started")
	}
}
