package docker

import (
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// The Sentinels promote the replica of a dead master, and the old one comes back as a
// replica of it.
func TestSentinelsFailOver(t *testing.T) {
	c := upAs(t, cluster.Topology{Masters: 1, Replicas: 1, Sentinels: 3})
	ctx := soon(t)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	must(t, c.Sync(ctx, "master"))
	must(t, c.Kill(ctx, "master"))
	e, err := c.Elected(ctx, "master")
	must(t, err)
	if e.Node != "replica" || c.Primary(0) != "replica" || e.Down <= 0 || e.Switched < e.Down {
		t.Errorf("%+v, the primary is %s", e, c.Primary(0))
	}
	if got := value(t, c, "replica", "k").Value; got != "v" {
		t.Errorf("the replica has %q, want v", got)
	}
	must(t, c.Restart(ctx, "master"))
	must(t, c.Sync(ctx, "replica"))
	if got := c.Master("master"); got != "replica" {
		t.Errorf("the old master follows %q, want the replica", got)
	}
}
