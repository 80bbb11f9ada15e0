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
