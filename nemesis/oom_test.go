package nemesis_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

func TestOOM(t *testing.T) {
	const script = "return redis.call('SET', 'k', 'w')"
	everywhere(t, func(w world) {
		_, simulated := w.deployment.(cluster.MemorySimulator)
		was := map[string]string{"maxmemory-policy": "allkeys-lru", "maxmemory": "1073741824"}
		if !simulated {
			for name, value := range was {
				_, err := w.Do(ctx, "master", "CONFIG", "SET", name, value)
				must(t, err)
			}
		}
		w.want("OK", "SET", "k", "v", "PX", "600000")
		w.want("OK", "SET", "other", "v", "PX", "600000")
		kinds, err := nemesis.Find([]string{"oom"})
		must(t, err)
		fault, ok := kinds[0].Draw(scene(w), random())
		if !ok {
			t.Fatal("nothing to hit")
		}
		w.start(fault)
		w.want("OOM command not allowed when used memory > 'maxmemory'", "SET", "new", "v", "NX", "PX", "1000")
		w.want("OOM command not allowed when used memory > 'maxmemory'", "EVAL", script, "0")
		w.want("v", "GET", "k")
		w.want("1", "PEXPIRE", "k", "500000")
		w.want("1", "EVAL", "return redis.call('DEL', 'other')", "0")
		must(t, w.HealAll(ctx))
		w.want("v", "GET", "k") // no policy has been put back too early
		w.want("OK", "SET", "new", "v", "NX", "PX", "1000")
		w.want("OK", "EVAL", script, "0")
		if !simulated {
			for name, want := range was {
				reply, err := w.Do(ctx, "master", "CONFIG", "GET", name)
				must(t, err)
				if got := reply.Elems[1].Text(); got != want {
					t.Errorf("%s is %s, want %s as before", name, got, want)
				}
			}
		}
	}, seen(
		backends("memory is full: writes are refused (simulated)", "memory is full: writes are refused (maxmemory 1, noeviction)"),
		both("a write was refused with OOM; there is memory again, and one is accepted"),
	))
}
