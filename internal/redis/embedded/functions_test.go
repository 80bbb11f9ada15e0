package embedded_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// TestFunctionsBelongToTheData: a library is replicated and kept as keys are, unlike scripts.
func TestFunctionsBelongToTheData(t *testing.T) {
	const library = "#!lua name=numbers\nredis.register_function('one', function() return 1 end)"
	in(t, replicated, func(w *world) {
		w.want("numbers", "master", "FUNCTION", "LOAD", library)
		w.want("1", "master", "FCALL", "one", "0")
		w.want("READONLY", "replica", "FUNCTION", "LOAD", "REPLACE", library)
		w.want("READONLY", "replica", "FCALL", "one", "0")
		w.sleep(time.Second)
		w.must(w.Promote(ctx, "replica"))
		w.want("1", "replica", "FCALL", "one", "0")

		w.must(w.Persist(ctx, "master", cluster.FsyncAlways))
		w.must(w.Kill(ctx, "master"))
		delete(w.conns, "master")
		_, err := w.Recover(ctx, "master")
		w.must(err)
		w.want("1", "master", "FCALL", "one", "0")
		w.must(w.Kill(ctx, "master"))
		delete(w.conns, "master")
		w.must(w.Restart(ctx, "master"))
		w.want("Function not found", "master", "FCALL", "one", "0")
	})
}
