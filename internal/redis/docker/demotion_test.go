package docker

import (
	"strings"
	"testing"
)

// A demoted master refuses writes, throws away what it alone had, and can be promoted
// again.
func TestDemote(t *testing.T) {
	c := up(t, 1, 2)
	ctx := soon(t)
	mustDo(t, dial(t, c, "A", "master"), "SET", "both", "v")
	must(t, c.Sync(ctx, "master"))
	must(t, c.CutReplication(ctx, "replica1"))
	if _, err := c.Demote(ctx, "master"); err == nil {
		t.Error("the primary was demoted")
	}
	must(t, c.Promote(ctx, "replica1"))
	mustDo(t, dial(t, c, "A", "master"), "SET", "lost", "v")
	mustDo(t, dial(t, c, "B", "replica1"), "SET", "kept", "v")
	for _, node := range []string{"master", "replica2"} {
		discarded, err := c.Demote(ctx, node)
		must(t, err)
		if discarded <= 0 {
			t.Errorf("%s threw away %d bytes, want some", node, discarded)
		}
		if got := c.Master(node); got != "replica1" {
			t.Errorf("%s follows %q", node, got)
		}
		reply, err := dial(t, c, "A", node).Do(ctx, "SET", "k", "v")
		must(t, err)
		if err := reply.Err(); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
			t.Errorf("%s answers a write with %v", node, reply)
		}
	}
	must(t, c.Sync(ctx, "replica1"))
	for _, node := range []string{"master", "replica2"} {
		if value(t, c, node, "lost").Exists || !value(t, c, node, "both").Exists || !value(t, c, node, "kept").Exists {
			t.Errorf("%s does not have what the new master has", node)
		}
	}
	must(t, c.Promote(ctx, "master"))
	if _, err := c.Demote(ctx, "replica1"); err != nil || c.Primary(0) != "master" {
		t.Errorf("back again: %v, the primary is %s", err, c.Primary(0))
	}
	must(t, c.Kill(ctx, "replica1"))
	if _, err := c.Demote(ctx, "replica1"); err == nil {
		t.Error("a dead node was demoted")
	}
	if _, err := c.Demote(ctx, "register"); err == nil {
		t.Error("the register was demoted")
	}
}
