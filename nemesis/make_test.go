package nemesis_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

// What most faults of these tests hit.
var (
	atMaster = nemesis.Target{Nodes: []string{"master"}}
	atA      = nemesis.Target{Clients: []string{"A"}}
)

// sceneOf is a deployment whose lock is kept under k, and the clients that can be hit.
func sceneOf(c cluster.Cluster, clock nemesis.Clock, clients ...nemesis.Victim) nemesis.Scene {
	return nemesis.Scene{
		Cluster: c, Shards: 1, Kept: cluster.Place{Names: []string{"k"}}, Clients: clients, TTL: time.Second, Clock: clock,
	}
}

// made makes the fault that schedules call so.
func made(t *testing.T, s nemesis.Scene, word string, target nemesis.Target) nemesis.Fault {
	t.Helper()
	k, err := nemesis.FindWritten(word)
	must(t, err)
	f, err := k.Make(s, target)
	must(t, err)
	return f
}

// begin makes the fault that schedules call so and brings it about. Without clients there is A.
func (w world) begin(word string, target nemesis.Target, clients ...nemesis.Victim) {
	w.t.Helper()
	if len(clients) == 0 {
		clients = []nemesis.Victim{{Name: "A"}}
	}
	w.start(made(w.t, sceneOf(w.deployment, w.clock, clients...), word, target))
}
