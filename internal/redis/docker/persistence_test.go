package docker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

func same(t *testing.T, what string, got []cluster.KeyState, want ...string) {
	t.Helper()
	var names []string
	for _, k := range got {
		names = append(names, k.Key)
	}
	if !slices.Equal(names, want) {
		t.Errorf("%s: %v, want %v", what, names, want)
	}
}

func TestRecover(t *testing.T) {
	c := up(t, 1, 0)
	ctx := soon(t)
	if _, err := c.Recover(ctx, "master"); err == nil {
		t.Error("a running server was recovered")
	}
	mustDo(t, dial(t, c, "A", "master"), "SET", "before", "v")
	must(t, c.Persist(ctx, "master", cluster.FsyncAlways))
	mustDo(t, dial(t, c, "A", "master"), "SET", "lock", "token", "NX", "PX", "600000")
	must(t, c.Kill(ctx, "master"))
	got, err := c.Recover(ctx, "master")
	must(t, err)
	same(t, "it came back with", got, "before", "lock")
	if ttl := got[1].TTL; ttl >= 10*time.Minute || ttl < 5*time.Minute {
		t.Errorf("the lock lives for another %v", ttl)
	}
	if state := value(t, c, "master", "lock"); state.Value != "token" {
		t.Errorf("the lock is %+v", state)
	}

	// Restart forgets the file, and begins another.
	must(t, c.Kill(ctx, "master"))
	must(t, c.Restart(ctx, "master"))
	if value(t, c, "master", "lock").Exists {
		t.Error("a key survived a restart that should lose all")
	}
	mustDo(t, dial(t, c, "A", "master"), "SET", "after", "v")
	must(t, c.Kill(ctx, "master"))
	if got, err = c.Recover(ctx, "master"); err != nil || len(got) != 1 || got[0].Key != "after" {
		t.Errorf("it began another file, and came back with %v, %v", got, err)
	}
}

func TestLosePower(t *testing.T) {
	c := up(t, 1, 0)
	ctx := soon(t)
	if err := c.StopSyncing(ctx, "master"); err == nil {
		t.Error("a server without a file has an end of it")
	}
	must(t, c.Persist(ctx, "master", cluster.FsyncEverySec))
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "SET", "synced", "v", "PX", "600000")
	must(t, c.StopSyncing(ctx, "master"))
	mustDo(t, conn, "SET", "lost", "v", "PX", "600000")
	loss, err := c.LosePower(ctx, "master")
	must(t, err)
	same(t, "it had", loss.Had, "lost", "synced")
	if !strings.HasSuffix(loss.Cut, " bytes of its AOF") || strings.HasPrefix(loss.Cut, "0 ") {
		t.Errorf("cut off were %s", loss.Cut)
	}
	got, err := c.Recover(ctx, "master")
	must(t, err)
	same(t, "it came back with", got, "synced")
	if _, err := c.LosePower(ctx, "master"); err == nil {
		t.Error("it lost its power without a mark")
	}
}

func TestOOM(t *testing.T) {
	c := up(t, 1, 0)
	ctx := soon(t)
	conn := dial(t, c, "A", "master")
	fault := made(t, scene(c), "oom", atMaster())
	_, err := fault.Start(ctx)
	must(t, err)
	reply, err := conn.Do(ctx, "SET", "k", "v")
	must(t, err)
	if reply.Err() == nil {
		t.Errorf("a write into full memory: %v", reply)
	}
	_, err = fault.Stop(ctx)
	must(t, err)
	mustDo(t, conn, "SET", "k", "v")
}
