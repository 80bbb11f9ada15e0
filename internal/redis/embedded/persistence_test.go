package embedded_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// told names keys with what is left of their time.
func told(keys []cluster.KeyState) (s []string) {
	for _, k := range keys {
		s = append(s, fmt.Sprint(k.Key, " ", k.TTL.Round(time.Second)))
	}
	return s
}

func (w *world) told(what string, keys []cluster.KeyState, want ...string) {
	w.t.Helper()
	if got := told(keys); fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("%s %v, want %v", what, got, want)
	}
}

func TestRecover(t *testing.T) {
	in(t, replicated, func(w *world) {
		w.want("OK", "master", "SET", "before", "v")
		w.must(w.Persist(ctx, "master", cluster.FsyncAlways))
		w.want("OK", "master", "SET", "lock", "token", "PX", "60000")
		w.want("OK", "master", "SET", "short", "v", "PX", "10000")
		w.want("1", "master", "HSET", "hash", "f", "1")
		w.must(w.Kill(ctx, "master"))
		delete(w.conns, "master")
		w.sleep(20 * time.Second)
		got, err := w.Recover(ctx, "master")
		w.must(err)
		w.told("it came back with", got, "before 0s", "hash 0s", "lock 40s")
		w.want("token", "master", "GET", "lock")
		w.want("1", "master", "HGET", "hash", "f")
		if _, err := w.Recover(ctx, "master"); err == nil {
			t.Error("a running node was recovered")
		}
		w.must(w.Sync(ctx, "master"))
		w.want("token", "replica", "GET", "lock")

		w.must(w.Kill(ctx, "master"))
		delete(w.conns, "master")
		w.must(w.Restart(ctx, "master"))
		w.want("0", "master", "EXISTS", "lock")
		w.want("OK", "master", "SET", "after", "v")
		w.must(w.Kill(ctx, "master"))
		delete(w.conns, "master")
		got, err = w.Recover(ctx, "master")
		w.must(err)
		w.told("it began another file, and came back with", got, "after 0s")
		w.must(w.Kill(ctx, "replica"))
		if _, err := w.Recover(ctx, "replica"); err == nil {
			t.Error("a node without a file was recovered")
		}
		w.must(w.Kill(ctx, "master"))
		if err := w.Persist(ctx, "master", cluster.FsyncAlways); err == nil {
			t.Error("a dead node keeps a file")
		}
	})
}

func TestLosePower(t *testing.T) {
	in(t, replicated, func(w *world) {
		if err := w.StopSyncing(ctx, "master"); err == nil {
			t.Error("a node without a file has synced it")
		}
		w.must(w.Persist(ctx, "master", cluster.FsyncEverySec))
		if _, err := w.LosePower(ctx, "master"); err == nil || !w.Alive("master") {
			t.Errorf("it lost its power without a mark: %v", err)
		}
		w.want("OK", "master", "SET", "synced", "v", "PX", "60000")
		w.want("OK", "master", "SET", "expired", "v", "PX", "5000")
		w.want("OK", "master", "SET", "released", "v")
		w.must(w.StopSyncing(ctx, "master"))
		w.sleep(10 * time.Second)
		w.want("OK", "master", "SET", "lost", "v", "PX", "60000")
		w.want("1", "master", "DEL", "released")
		loss, err := w.LosePower(ctx, "master")
		w.must(err)
		delete(w.conns, "master")
		w.told("it had", loss.Had, "lost 1m0s", "synced 50s")
		if want := "the last writes to 2 of its keys"; loss.Cut != want {
			t.Errorf("cut off %s, want %s", loss.Cut, want)
		}
		w.sleep(10 * time.Second)
		got, err := w.Recover(ctx, "master")
		w.must(err)
		w.told("it came back with", got, "released 0s", "synced 40s")
		w.must(w.Sync(ctx, "master"))
		w.want("0", "replica", "EXISTS", "lost")
		if _, err := w.LosePower(ctx, "master"); err == nil {
			t.Error("it lost its power twice with one mark")
		}
	})
}
