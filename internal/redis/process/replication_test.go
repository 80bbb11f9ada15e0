package process

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/node"
)

func offsets(t *testing.T, c *Cluster, replica string) (have, sent int64) {
	t.Helper()
	have, sent, err := c.Offsets(soon(t), replica)
	must(t, err)
	return have, sent
}

func TestReplicasFollow(t *testing.T) {
	c := up(t, 1, 2)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	must(t, c.Sync(soon(t), "master"))
	for _, replica := range []string{"replica1", "replica2"} {
		if got := value(t, c, replica, "k").Value; got != "v" {
			t.Errorf("%s has %q, want v", replica, got)
		}
		if have, sent := offsets(t, c, replica); have <= 0 || sent <= 0 {
			t.Errorf("%s has %d of %d", replica, have, sent)
		}
		if value(t, c, replica, node.ProbeKey).Exists {
			t.Errorf("%s holds the probe", replica)
		}
	}
}

// The write that the master acknowledged is lost with it.
func TestLossyFailover(t *testing.T) {
	for i := range 10 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c := up(t, 1, 1)
			ctx := soon(t)
			client := dial(t, c, "A", "master")
			mustDo(t, client, "SET", "early", "v")
			must(t, c.Sync(ctx, "master"))

			must(t, c.CutReplication(ctx, "replica"))
			mustDo(t, client, "SET", "late", "v", "NX")
			have, sent := offsets(t, c, "replica")
			if have >= sent {
				t.Errorf("replica has %d of %d, want a lag", have, sent)
			}
			must(t, c.Kill(ctx, "master"))
			if h, s := offsets(t, c, "replica"); h != have || s < sent {
				t.Errorf("after the kill: %d of %d, before %d of %d", h, s, have, sent)
			}
			must(t, c.Promote(ctx, "replica"))
			if h, s := offsets(t, c, "replica"); h != have || s < sent {
				t.Errorf("after the promotion: %d of %d, before %d of %d", h, s, have, sent)
			}
			if got := c.Primary(0); got != "replica" {
				t.Errorf("Primary is %s, want replica", got)
			}
			if !value(t, c, "replica", "early").Exists {
				t.Error("the write that was in step is lost")
			}
			if value(t, c, "replica", "late").Exists {
				t.Error("the write behind the cut has arrived")
			}
			if got := mustDo(t, dial(t, c, "B", "replica"), "SET", "late", "w", "NX"); got != "OK" {
				t.Errorf("B's SET NX answers %q, want OK", got)
			}
			if err := c.Promote(ctx, "replica"); err == nil {
				t.Error("a master was promoted")
			}
		})
	}
}

func TestHealBringsTheReplicaBack(t *testing.T) {
	c := up(t, 1, 1)
	ctx := soon(t)
	must(t, c.CutReplication(ctx, "replica"))
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := c.Sync(short, "master"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sync over a cut link: %v", err)
	}
	if value(t, c, "replica", "k").Exists {
		t.Error("a write crossed the cut")
	}
	must(t, c.HealReplication(ctx, "replica"))
	must(t, c.Sync(ctx, "master"))
	if !value(t, c, "replica", "k").Exists {
		t.Error("the write did not arrive after the heal")
	}
}

func TestRestartedReplicaFollowsAgain(t *testing.T) {
	c := up(t, 1, 1)
	ctx := soon(t)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	must(t, c.Kill(ctx, "replica"))
	if err := c.Sync(ctx, "master"); err == nil {
		t.Error("Sync with a dead replica succeeded")
	}
	must(t, c.Restart(ctx, "replica"))
	must(t, c.Sync(ctx, "master"))
	if !value(t, c, "replica", "k").Exists {
		t.Error("the restarted replica is empty")
	}
}

func TestPausedMasterKeepsItsOffset(t *testing.T) {
	c := up(t, 1, 1)
	_, before := offsets(t, c, "replica")
	must(t, c.Pause(t.Context(), "master"))
	if _, sent := offsets(t, c, "replica"); sent < before {
		t.Errorf("sent went from %d back to %d", before, sent)
	}
}

func TestSyncWithoutReplicas(t *testing.T) {
	c := up(t, 1, 0)
	must(t, c.Sync(soon(t), "master"))
}
