package nemesis_test

import (
	"testing"

	"github.com/lockbench/lockbench/nemesis"
)

// TestDuplicate: an acquire that is sent twice meets its own key, and the client is told
// that the lock is taken.
func TestDuplicate(t *testing.T) {
	everywhere(t, func(w world) {
		w.begin("duplicate", nemesis.Target{Clients: atA.Clients, Nodes: atMaster.Nodes})
		w.want("OK", "SET", "other", "v", "NX")
		w.want("", "SET", "k", "v", "NX")
		w.want("v", "GET", "k")
		w.want("1", "INCR", "n")
		must(t, w.HealAll(ctx))
	}, seen(both("its next command on k is sent twice"), both("executed twice: SET k v NX: OK, lost, then nil")))
}

func TestDuplicateCounts(t *testing.T) {
	everywhere(t, func(w world) {
		w.begin("duplicate", nemesis.Target{Clients: atA.Clients, Nodes: atMaster.Nodes})
		w.want("2", "INCR", "k")
		w.want("3", "INCR", "k") // once is enough
		must(t, w.HealAll(ctx))
		w.want("4", "INCR", "k")
	}, seen(both("its next command on k is sent twice"), both("executed twice: INCR k: 1, lost, then 2")))
}

func TestDuplicateWithoutCommand(t *testing.T) {
	everywhere(t, func(w world) {
		w.begin("duplicate", nemesis.Target{Clients: atA.Clients, Nodes: atMaster.Nodes})
		w.want("PONG", "PING")
		must(t, w.HealAll(ctx))
		w.want("1", "INCR", "k")
	}, seen(both("its next command on k is sent twice"), both("no command came")))
}
