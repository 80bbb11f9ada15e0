package nemesis_test

import (
	"testing"

	"github.com/lockbench/lockbench/nemesis"
)

// TestRenewalCut: what comes between the calls of a holder is lost, and all else passes.
func TestRenewalCut(t *testing.T) {
	everywhere(t, func(w world) {
		holds, calls := false, true
		victim := nemesis.Victim{Name: "A", Holds: func() bool { return holds }, Calls: func() bool { return calls }}
		w.begin("renewal-cut", atA, victim)
		w.want("OK", "SET", "k", "v", "PX", "60000") // acquires
		holds, calls = true, false
		w.want("PONG", "PING")
		w.want("OK", "SET", "other", "v")
		for range 2 {
			if reply, err := ask(t, w, "master", "PEXPIRE", "k", "600000"); err == nil {
				t.Errorf("a renewal was answered: %s", reply)
			}
		}
		keys, err := w.Inspect(ctx, "master", 0, "k")
		must(t, err)
		if ttl := keys[0].TTL.Minutes(); ttl > 1 || ttl <= 0 {
			t.Errorf("the lease is %v long, want what it was", keys[0].TTL)
		}
		calls = true
		w.want("v", "GET", "k")
		holds = false
		w.want("1", "DEL", "k") // releases
		holds, calls = true, false
		must(t, w.HealAll(ctx))
		w.want("0", "PEXPIRE", "k", "600000")
	}, seen(both("its renewals get lost"), both("2 renewals lost, such as PEXPIRE k 600000")))
}

func TestRenewalCutWithoutRenewal(t *testing.T) {
	everywhere(t, func(w world) {
		holds := func() bool { return true }
		w.begin("renewal-cut", atA, nemesis.Victim{Name: "A", Holds: holds, Calls: holds})
		w.want("0", "PEXPIRE", "k", "600000")
		must(t, w.HealAll(ctx))
	}, seen(both("its renewals get lost"), both("no renewal came")))
}
