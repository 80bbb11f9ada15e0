package embedded_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// setEnding sets fields of hashes at a node: one that ends after a minute, and one more after ten seconds or never.
func (w *world) setEnding(node string) {
	w.t.Helper()
	w.want("1", node, "HSETEX", "lock", "FNX", "PX", "60000", "FIELDS", "1", "owner", "a")
	w.want("1", node, "HSETEX", "two", "PX", "60000", "FIELDS", "1", "long", "a")
	w.want("1", node, "HSETEX", "two", "PX", "10000", "FIELDS", "1", "short", "a")
	w.want("1", node, "HSETEX", "mixed", "PX", "10000", "FIELDS", "1", "short", "a")
	w.want("1", node, "HSET", "mixed", "ever", "a")
	w.want("1", node, "HSETEX", "short", "PX", "10000", "FIELDS", "1", "f", "a")
	w.want("1", node, "HSETEX", "bounded", "PX", "60000", "FIELDS", "1", "f", "a")
	w.want("1", node, "PEXPIRE", "bounded", "30000")
}

func TestInspectEndingFields(t *testing.T) {
	in(t, single, func(w *world) {
		w.setEnding("master")
		w.sleep(9 * time.Second)
		got, err := w.Inspect(ctx, "master", 0, "lock", "two", "mixed", "short", "bounded")
		w.must(err)
		w.told("it holds", got, "lock 51s", "two 51s", "mixed 0s", "short 1s", "bounded 21s")
		if got[2].TTL != histories.NoTTL {
			t.Errorf("a hash with a field that does not end has %v", got[2].TTL)
		}
		w.sleep(2 * time.Second)
		got, err = w.Inspect(ctx, "master", 0, "two", "mixed", "short")
		w.must(err)
		if len(got[0].Fields) != 1 || len(got[1].Fields) != 1 || got[2].Exists {
			t.Errorf("fields that have ended are there: %+v", got)
		}
	})
}

func TestEndingFieldsAreReplicated(t *testing.T) {
	in(t, replicated, func(w *world) {
		w.setEnding("master")
		w.must(w.Sync(ctx, "master"))
		w.want("READONLY", "replica", "HSETEX", "lock", "PX", "1", "FIELDS", "1", "owner", "b")
		w.sleep(20 * time.Second)
		got, err := w.Inspect(ctx, "replica", 0, "lock", "two", "mixed", "bounded")
		w.must(err)
		w.told("the replica holds", got, "lock 40s", "two 40s", "mixed 0s", "bounded 10s")
		_, sent, err := w.Offsets(ctx, "replica")
		w.must(err)
		w.want("0", "master", "HSETEX", "lock", "FNX", "PX", "90000", "FIELDS", "1", "owner", "b")
		if _, now, _ := w.Offsets(ctx, "replica"); now > sent+1 { // fields have ended
			t.Errorf("the passing of time was sent as %d changes", now-sent)
		}
		w.want("1", "master", "HSETEX", "lock", "FXX", "PX", "90000", "FIELDS", "1", "owner", "a")
		w.must(w.Sync(ctx, "master"))
		got, err = w.Inspect(ctx, "replica", 0, "lock")
		w.must(err)
		w.told("the replica holds", got, "lock 1m30s")
	})
}

func TestEndingFieldsArePersisted(t *testing.T) {
	in(t, replicated, func(w *world) {
		w.must(w.Persist(ctx, "master", cluster.FsyncAlways))
		w.setEnding("master")
		w.must(w.Kill(ctx, "master"))
		delete(w.conns, "master")
		w.sleep(20 * time.Second)
		got, err := w.Recover(ctx, "master")
		w.must(err)
		w.told("it came back with", got, "bounded 10s", "lock 40s", "mixed 0s", "two 40s")

		w.must(w.StopSyncing(ctx, "master"))
		w.want("1", "master", "HSETEX", "lock", "FXX", "PX", "90000", "FIELDS", "1", "owner", "a")
		w.want("1", "master", "HSETEX", "late", "PX", "90000", "FIELDS", "1", "owner", "a")
		w.sleep(30 * time.Second)
		loss, err := w.LosePower(ctx, "master")
		w.must(err)
		delete(w.conns, "master")
		w.told("it had", loss.Had, "late 1m0s", "lock 1m0s", "mixed 0s", "two 10s")
		if want := "the last writes to 2 of its keys"; loss.Cut != want {
			t.Errorf("it lost %s, want %s", loss.Cut, want)
		}
		got, err = w.Recover(ctx, "master")
		w.must(err)
		w.told("it came back with", got, "lock 10s", "mixed 0s", "two 10s")
	})
}

func TestClockOfEndingFields(t *testing.T) {
	in(t, single, func(w *world) {
		w.setEnding("master")
		w.must(w.SetClock(ctx, "master", -time.Hour, 1))
		w.sleep(59 * time.Minute)
		w.want("a", "master", "HGET", "lock", "owner")
		w.must(w.SetClock(ctx, "master", 0, 1))
		w.want("0", "master", "EXISTS", "lock")
		w.want("1", "master", "EXISTS", "mixed")
		w.want("1", "master", "HSETEX", "lock", "FNX", "PX", "60000", "FIELDS", "1", "owner", "b")
		w.must(w.SetClock(ctx, "master", 61*time.Second, 1))
		w.want("1", "master", "HSETEX", "lock", "FNX", "PX", "60000", "FIELDS", "1", "owner", "c")
	})
}
