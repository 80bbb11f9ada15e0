package cluster

import (
	"strings"
	"testing"
)

func TestTopologyNodes(t *testing.T) {
	tests := []struct {
		masters, replicas int
		want              string
	}{
		{1, 0, "master register"},
		{1, 1, "master replica<master register"},
		{1, 2, "master replica1<master replica2<master register"},
		{5, 0, "n1 n2 n3 n4 n5 register"},
		{2, 1, "n1 n2 replica<n1 register"},
	}
	for _, tt := range tests {
		var names []string
		for _, n := range (Topology{Masters: tt.masters, Replicas: tt.replicas}).Nodes() {
			name := n.Name
			if n.Role == Replica {
				name += "<" + n.Of
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%d masters, %d replicas: %s, want %s", tt.masters, tt.replicas, got, tt.want)
		}
	}
}

func TestShardOf(t *testing.T) {
	nodes := Topology{Masters: 2, Replicas: 2}.Nodes()
	for node, want := range map[string]int{"n1": 0, "n2": 1, "replica1": 0, "replica2": 0, "register": -1, "nowhere": -1} {
		shard, ok := ShardOf(nodes, node)
		if !ok {
			shard = -1
		}
		if shard != want {
			t.Errorf("%s belongs to shard %d, want %d", node, shard, want)
		}
	}
}

func TestTopologyInWords(t *testing.T) {
	for topo, want := range map[Topology]string{
		{Masters: 1}:                            "1 master",
		{Masters: 1, Replicas: 2}:               "1 master, 2 replicas",
		{Masters: 5, Replicas: 1}:               "5 independent masters, 1 replica of n1",
		{Masters: 1, ClusterMode: true}:         "1 master in cluster mode",
		{Masters: 1, Replicas: 1, Sentinels: 3}: "1 master, 1 replica, 3 Sentinels",
	} {
		if got := topo.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
