package embedded_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/embedded"
)

const increment = "return redis.call('INCR', KEYS[1])"

func TestRestartForgetsScripts(t *testing.T) {
	in(t, single, func(w *world) {
		sha := w.do("master", "SCRIPT", "LOAD", increment)
		w.want("1", "master", "EVALSHA", sha, "1", "k")
		w.must(w.Kill(ctx, "master"))
		w.must(w.Restart(ctx, "master"))
		delete(w.conns, "master")
		w.want("NOSCRIPT No matching script. Please use EVAL.", "master", "EVALSHA", sha, "1", "k")
		w.want("1", "master", "EVAL", increment, "1", "k")
		w.want("2", "master", "EVALSHA", sha, "1", "k")
	})
}

func TestScriptsAndReplication(t *testing.T) {
	in(t, replicated, func(w *world) {
		sha := w.do("master", "SCRIPT", "LOAD", increment)
		w.want(sha, "replica", "SCRIPT", "LOAD", increment)
		w.want("1", "master", "EVALSHA", sha, "1", "k")
		w.want("", "replica", "GET", "k") // it is on its way
		w.want("1", "master", "WAIT", "1", "0")
		w.want("1", "replica", "GET", "k")
		w.want("READONLY", "replica", "EVALSHA", sha, "1", "k")
		w.must(w.Promote(ctx, "replica"))
		w.want("2", "replica", "EVALSHA", sha, "1", "k")
	})
}

// TestWaitInScripts: it must not sleep while the script holds the server's lock, also
// where miniredis runs the script itself.
func TestWaitInScripts(t *testing.T) {
	in(t, replicated, func(w *world) {
		const script = "return redis.pcall('WAIT', 1, 60000)"
		w.must(w.CutReplication(ctx, "replica"))
		w.want("OK", "master", "SET", "k", "v")
		before := w.sim.Now()
		w.want("not allowed from script", "master", "EVAL", script, "0")
		w.want("OK", "master", "MULTI")
		w.want("QUEUED", "master", "EVAL", script, "0")
		w.do("master", "EXEC")
		if took := w.sim.Now() - before; took > time.Second {
			t.Errorf("it slept for %v", took)
		}
	})
}

// TestLongReplies: they do not fit the server's buffers and are sent before the command
// has ended.
func TestLongReplies(t *testing.T) {
	in(t, replicated, func(w *world) {
		long := strings.Repeat("x", 10000)
		w.want("OK", "master", "SET", "k", long)
		w.want(long, "master", "GETSET", "k", long+"y") // a change whose only reply is long
		w.sleep(2 * embedded.DefaultLag)
		w.want(long+"y", "replica", "GET", "k")
		w.want(long, "master", "GET", "k")
		w.want(long, "master", "EVAL", "return redis.call('GET', KEYS[1])", "1", "k")
	})
}
