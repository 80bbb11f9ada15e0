package cluster

import "sync"

// View is what one client takes for the Primary of each shard. Unless something is pinned
// it is right. The zero value is ready. Methods are safe for concurrent use.
type View struct {
	mu     sync.Mutex
	pinned map[int]string
}

// Primary is the node that the client takes for the one that serves shard now.
func (v *View) Primary(c Cluster, shard int) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if node, ok := v.pinned[shard]; ok {
		return node
	}
	return c.Primary(shard)
}

// Pin makes the client take node for the Primary of shard, whatever it is in truth, as one
// does that has not heard of a failover.
func (v *View) Pin(shard int, node string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pinned == nil {
		v.pinned = map[int]string{}
	}
	v.pinned[shard] = node
}

// Unpin lets the client see the Primary of shard.
func (v *View) Unpin(shard int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.pinned, shard)
}
