package process

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// names are those of keys, in their order.
func names(keys []cluster.KeyState) (names []string) {
	for _, k := range keys {
		names = append(names, k.Key)
	}
	return names
}

func same(t *testing.T, what string, got []cluster.KeyState, want ...string) {
	t.Helper()
	if g := names(got); !slices.Equal(g, want) {
		t.Errorf("%s: %v, want %v", what, g, want)
	}
}

func TestRecover(t *testing.T) {
	c := up(t, 1, 0)
	ctx := soon(t)
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "SET", "before", "v")
	must(t, c.Persist(ctx, "master", cluster.FsyncAlways))
	mustDo(t, conn, "SET", "lock", "token", "NX", "PX", "600000")
	mustDo(t, conn, "SET", "short", "v", "PX", "1")
	mustDo(t, conn, "HSET", "hash", "field", "1")
	must(t, c.Kill(ctx, "master"))
	time.Sleep(2 * time.Millisecond) // the short key's time runs out while nobody is there
	got, err := c.Recover(ctx, "master")
	must(t, err)
	same(t, "it came back with", got, "before", "hash", "lock")
	if got[0].TTL != histories.NoTTL || got[2].TTL > 10*time.Minute || got[2].TTL < 5*time.Minute || got[2].Value != "token" {
		t.Errorf("it came back with %+v", got)
	}
	if state := value(t, c, "master", "lock"); state.Value != "token" {
		t.Errorf("the lock is %+v", state)
	}

	// What is written after a recovery is in the file too.
	mustDo(t, dial(t, c, "A", "master"), "SET", "later", "v")
	must(t, c.Kill(ctx, "master"))
	got, err = c.Recover(ctx, "master")
	must(t, err)
	same(t, "it came back again with", got, "before", "hash", "later", "lock")

	// Restart forgets the file, and begins another.
	must(t, c.Kill(ctx, "master"))
	must(t, c.Restart(ctx, "master"))
	if value(t, c, "master", "lock").Exists {
		t.Error("a key survived a restart that should lose all")
	}
	mustDo(t, dial(t, c, "A", "master"), "SET", "after", "v")
	must(t, c.Kill(ctx, "master"))
	got, err = c.Recover(ctx, "master")
	must(t, err)
	same(t, "it began another file, and came back with", got, "after")
}

func TestRecoverRefuses(t *testing.T) {
	c := up(t, 1, 0)
	ctx := soon(t)
	if _, err := c.Recover(ctx, "master"); err == nil {
		t.Error("a running server was recovered")
	}
	if err := c.StopSyncing(ctx, "master"); err == nil {
		t.Error("a server without a file has an end of it")
	}
	if _, err := c.LosePower(ctx, "master"); err == nil || !c.Alive("master") {
		t.Errorf("a server without a file lost its power: %v, alive %v", err, c.Alive("master"))
	}
	must(t, c.Kill(ctx, "master"))
	if err := c.Persist(ctx, "master", cluster.FsyncAlways); err == nil {
		t.Error("a dead server keeps a file")
	}
	if _, err := c.Recover(ctx, "master"); err == nil {
		t.Error("a server without a file was recovered")
	}
}

// aofSize is the length of everything in the append-only file of the master.
func aofSize(t *testing.T, c *Cluster) (size int64) {
	t.Helper()
	must(t, filepath.WalkDir(filepath.Join(c.dir, "master"), func(_ string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || !strings.HasSuffix(file.Name(), ".aof") {
			return err
		}
		info, err := file.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}))
	return size
}

func TestLosePower(t *testing.T) {
	c := up(t, 1, 0)
	ctx := soon(t)
	conn := dial(t, c, "A", "master")
	must(t, c.Persist(ctx, "master", cluster.FsyncEverySec))
	mustDo(t, conn, "SET", "synced", "v", "PX", "600000")
	mustDo(t, conn, "SET", "released", "v")
	must(t, c.StopSyncing(ctx, "master"))
	mustDo(t, conn, "SET", "lost", "v", "PX", "600000")
	mustDo(t, conn, "EVAL", "redis.call('DEL', 'released') return redis.call('INCR', 'counter')", "0")
	before := aofSize(t, c)
	loss, err := c.LosePower(ctx, "master")
	must(t, err)
	same(t, "it had", loss.Had, "counter", "lost", "synced")
	if cut := before - aofSize(t, c); cut <= 0 || loss.Cut != fmt.Sprint(cut, " bytes of its AOF") {
		t.Errorf("%d bytes were cut off, and it says %s", cut, loss.Cut)
	}
	got, err := c.Recover(ctx, "master")
	must(t, err)
	same(t, "it came back with", got, "released", "synced")
	if _, err := c.LosePower(ctx, "master"); err == nil {
		t.Error("it lost its power without a mark")
	}
}

// A server that follows and one that is followed come back into step.
func TestRecoverWithReplica(t *testing.T) {
	c := up(t, 1, 1)
	ctx := soon(t)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	for _, name := range []string{"master", "replica"} {
		must(t, c.Persist(ctx, name, cluster.FsyncAlways))
		must(t, c.Kill(ctx, name))
		got, err := c.Recover(ctx, name)
		must(t, err)
		same(t, name+" came back with", got, "k")
		must(t, c.Sync(ctx, "master"))
	}
	mustDo(t, dial(t, c, "A", "master"), "SET", "later", "v")
	must(t, c.Sync(ctx, "master"))
	if !value(t, c, "replica", "later").Exists {
		t.Error("the replica does not follow any more")
	}
}
