// Package choosing says which lock to take in which situation. What that costs, and what still breaks it, is read from runs. It writes the page of all locks as well.
package choosing

import (
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/scenarios"
)

// topology is the servers that somebody has.
type topology struct {
	masters   int // independent of each other
	replicas  int // of the first master
	sentinels int
}

// row is a situation and what to take there. All else of docs/choosing.md is computed.
type row struct {
	situation string // as a heading
	servers   topology
	lock      string // of the catalogue
	guard     resource.Guard
	long      bool   // the lock must outlast its first lease
	why       string // in ten words at most
}

func rows() []row {
	return []row{
		{
			situation: "One server", servers: topology{masters: 1}, lock: "setnx-px-lua", guard: resource.CheckToken,
			why: "Frees its own key alone; asks before it writes.",
		},
		{
			situation: "Replicas, with failover", servers: topology{masters: 1, replicas: 2}, lock: "setnx-px-wait", guard: resource.CheckToken,
			why: "Counts as held once a replica has it.",
		},
		{
			situation: "Sentinel", servers: topology{masters: 1, replicas: 2, sentinels: 3}, lock: "setnx-px-wait", guard: resource.Epoch,
			why: "Failovers come unasked: the resource refuses whom they displace.",
		},
		{
			situation: "N masters", servers: topology{masters: 5}, lock: "redlock", guard: resource.CheckToken,
			why: "Losing one master of five loses no lock.",
		},
		{
			situation: "Long work", servers: topology{masters: 1}, lock: "watchdog", guard: resource.Epoch, long: true,
			why: "Renews its lease, and tells its holder of a loss.",
		},
		{
			situation: "It must not be wrong at all", servers: topology{masters: 1, replicas: 2}, lock: "setnx-px-lua", guard: resource.Epoch,
			why: "The resource decides; the lock only saves work.",
		},
	}
}

// concerns reports whether what a scenario does can happen to such servers.
func (t topology) concerns(s scenarios.Scenario) bool {
	return !s.ClusterMode && s.Replicas <= t.replicas
}

// own reports whether a scenario is about such servers, and not about a lock on any.
func (t topology) own(s scenarios.Scenario) bool {
	return t.replicas > 0 && s.Replicas > 0 || t.masters > 1 && s.Needs == scenarios.IndependentMasters
}
