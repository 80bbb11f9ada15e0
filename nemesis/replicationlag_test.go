package nemesis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

// A lease that was granted while the replica lags is unknown to it when it takes over, and
// what was granted before is not.
func TestReplicationLagMakesFailoversLossy(t *testing.T) {
	const by = 700 * time.Millisecond
	withReplicas(t, 1, func(w realm) {
		w.at("A", "OK", "SET", "k", "old")
		must(w.t, w.Sync(ctx, "master"))
		w.begin("replication-lag", nemesis.Target{Replica: "replica", By: by})
		// An hour: the replica must not get it, however slow the machine is.
		must(w.t, w.replicated.(cluster.Lagger).LagReplication(ctx, "replica", time.Hour))
		w.at("A", "OK", "SET", "k", "new")
		w.has("old", "replica")
		must(w.t, w.replicated.(cluster.Killer).Kill(ctx, "master"))
		must(w.t, w.Promote(ctx, "replica"))
		w.has("old", "replica")
		must(w.t, w.HealAll(ctx))
		w.at("B", "OK", "SET", "k", "newer")
	}, func(t *testing.T, ops []histories.Op) {
		wrote("after a write it has ", " of its master's stream, and the write arrived after ", "; at the end it has ")(t, ops)
		if got, want := ops[0].Invoke.Value, "what its master sends arrives 700ms later"; got != want {
			t.Errorf("planned %q, want %q", got, want)
		}
		var have, sent int64
		var after string
		seen := strings.ReplaceAll(ops[0].Complete.Value, ";", " ")
		if _, err := fmt.Sscanf(seen, "after a write it has %d of %d of its master's stream, and the write arrived after %s", &have, &sent, &after); err != nil {
			t.Fatalf("seen %q: %v", seen, err)
		}
		took, err := time.ParseDuration(after)
		must(t, err)
		if took < by || have > sent {
			t.Errorf("seen %q", seen)
		}
	})
}

// A master that takes no write is told of, and the lag is in force nonetheless.
func TestReplicationLagOfSilentMaster(t *testing.T) {
	withReplicas(t, 1, func(w realm) {
		p := w.replicated.(cluster.Pauser)
		must(w.t, p.Pause(ctx, "master"))
		w.begin("replication-lag", nemesis.Target{Replica: "replica", By: time.Millisecond})
		must(w.t, p.Resume(ctx, "master"))
		must(w.t, w.HealAll(ctx))
		w.whole("master")
	}, wrote("its master took no write; at the end it has "))
}

// A deployment that says that it delays, and does not, is found out.
func TestReplicationLagIsLookedAt(t *testing.T) {
	withReplicas(t, 1, func(w realm) {
		s := sceneOf(punctual{w.replicated}, w.clock)
		err := w.Start(ctx, made(w.t, s, "replication-lag", nemesis.Target{Replica: "replica", By: time.Minute}))
		if err == nil || !strings.Contains(err.Error(), "want replica to be 1m0s behind") {
			w.t.Errorf("got %v, want an error that asks for a lag", err)
		}
	}, nil)
}

// punctual says that it delays, and does not.
type punctual struct{ replicated }

func (punctual) LagReplication(context.Context, string, time.Duration) error { return nil }
