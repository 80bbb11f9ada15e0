package cluster

import (
	"context"
	"fmt"
	"time"
)

// SentinelMaster is the name under which Sentinels know the first shard.
const SentinelMaster = "lock"

// Sentinel is a deployment whose first shard Redis Sentinels can watch over, if its Topology
// has some. They fail over by themselves, and Primary follows them.
type Sentinel interface {
	Cluster
	Killer
	// Sentinels are the addresses that the Sentinels announce; none if there are none.
	Sentinels() []string
	// Announced is the node that announces addr, "host:port": a Sentinel, or a node of the
	// first shard. Dial takes its name.
	Announced(addr string) (node string, ok bool)
	// Elected returns once the Sentinels have put another node than old in charge of the
	// first shard and it says itself that it is a master. Offsets of it say what is lost.
	Elected(ctx context.Context, old string) (Election, error)
}

// Election is a failover that Sentinels decided.
type Election struct {
	Node string // the new Primary
	// Down and Switched are how long after the Kill or Pause of the old master, or else after
	// the call of Elected, a Sentinel was last heard to hold it for dead with the others'
	// consent, and first to name the new one. Down is 0 if that was not heard.
	Down, Switched time.Duration
}

// SentinelName is the name of a Sentinel by its number, from 0.
func SentinelName(i int) string { return fmt.Sprintf("sentinel%d", i+1) }
