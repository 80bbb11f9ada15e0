package embedded_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// TestWaitAOF: what was written is on the disk at once, and after StopSyncing never.
func TestWaitAOF(t *testing.T) {
	in(t, replicated, func(w *world) {
		const disabled = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
		answers := func(want string, took time.Duration) {
			t.Helper()
			before := w.sim.Now()
			reply, err := w.conns["master"].Do(ctx, "WAITAOF", "1", "0", "500")
			w.must(err)
			if got := reply.String(); got != want {
				t.Errorf("at %v: WAITAOF answered %s, want %s", before, got, want)
			}
			if got := w.sim.Now() - before; got.Round(10*time.Millisecond) != took {
				t.Errorf("WAITAOF took %v, want %v", got, took)
			}
		}
		w.want("OK", "master", "SET", "k", "v")
		w.want(disabled, "master", "WAITAOF", "1", "0", "500")
		w.must(w.Persist(ctx, "master", cluster.FsyncEverySec))
		w.want("OK", "master", "SET", "k", "w")
		answers("[1 0]", 0)
		w.must(w.StopSyncing(ctx, "master"))
		answers("[1 0]", 0) // its own last write was before
		w.want("w", "master", "GET", "k")
		answers("[1 0]", 0)
		w.want("OK", "master", "SET", "k", "x")
		answers("[0 0]", 500*time.Millisecond)
		for _, c := range []struct{ want, local, replicas, timeout string }{
			{"must be between 0 and 1", "2", "0", "0"}, {"ERR value is not an integer", "x", "0", "0"}, {"must be positive", "1", "-1", "0"},
			{"ERR timeout is not an integer", "1", "0", "x"}, {"ERR timeout is negative", "1", "0", "-1"}, {"do not simulate this", "1", "1", "0"},
		} {
			w.want(c.want, "master", "WAITAOF", c.local, c.replicas, c.timeout)
		}
		w.want("wrong number of arguments for 'waitaof' command", "master", "WAITAOF", "1", "0")
		w.want("WAITAOF cannot be used with replica instances", "replica", "WAITAOF", "1", "0", "0")

		_, err := w.LosePower(ctx, "master")
		w.must(err)
		delete(w.conns, "master")
		_, err = w.Recover(ctx, "master")
		w.must(err)
		w.want("w", "master", "GET", "k")
		w.want("OK", "master", "SET", "k", "y")
		answers("[1 0]", 0)

		w.must(w.Kill(ctx, "master"))
		delete(w.conns, "master")
		w.must(w.Restart(ctx, "master"))
		w.want("OK", "master", "SET", "k", "z")
		answers("[1 0]", 0) // it keeps a file still, another one
	})
}
