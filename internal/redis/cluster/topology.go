package cluster

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/words"
)

// Topology is what a lock asks for: independent masters, of which the first has
// asynchronous replicas, and one register node beside them.
type Topology struct {
	Masters  int
	Replicas int
	// Sentinels watch over the first master and its replicas. They are no nodes: no client
	// keeps a key there. 0, or 3 or more.
	Sentinels int
	// ClusterMode says that each master is a Redis Cluster of its own, whose one node serves
	// all hash slots. Such a node refuses commands on keys of different slots, and has no
	// replicas here.
	ClusterMode bool
}

// Nodes names the nodes: master, or n1 to nN; replica, or replica1 to replicaN; and
// register. Every backend uses these names in this order.
func (t Topology) Nodes() []Node {
	var nodes []Node
	for i := range t.Masters {
		nodes = append(nodes, Node{Name: numbered("master", "n", i, t.Masters), Role: Master})
	}
	for i := range t.Replicas {
		nodes = append(nodes, Node{Name: numbered("replica", "replica", i, t.Replicas), Role: Replica, Of: nodes[0].Name})
	}
	return append(nodes, Node{Name: "register", Role: Register})
}

func numbered(single, many string, i, n int) string {
	if n == 1 {
		return single
	}
	return fmt.Sprintf("%s%d", many, i+1)
}

// String describes the topology in words: "1 master, 1 replica".
func (t Topology) String() string {
	s := words.Count(t.Masters, "master")
	if t.Masters > 1 {
		s = fmt.Sprintf("%d independent masters", t.Masters)
	}
	if t.ClusterMode {
		s += " in cluster mode"
	}
	if t.Replicas > 0 {
		s += ", " + words.Count(t.Replicas, "replica")
		if t.Masters > 1 {
			s += " of n1"
		}
	}
	if t.Sentinels > 0 {
		s += ", " + words.Count(t.Sentinels, "Sentinel")
	}
	return s
}

// ShardOf is the shard that node belongs to, as master or as replica. The register belongs
// to none.
func ShardOf(nodes []Node, node string) (shard int, ok bool) {
	of := node
	for _, n := range nodes {
		if n.Name == node && n.Role == Replica {
			of = n.Of
		}
	}
	for i, n := range nodes { // masters come first, one for each shard
		if n.Name == of && n.Role == Master {
			return i, true
		}
	}
	return 0, false
}
