package cluster

import (
	"context"
	"time"
)

// A Lagger makes replicas lag behind.
type Lagger interface {
	Replicator
	// LagReplication makes what replica's master sends it from now on arrive by so much
	// later than it would, until it is called again; 0 ends it. Nothing gets lost and all
	// keeps its order, so that what is on its way takes its time in any case. What replica
	// says that it has, its master hears as soon as ever. WAIT lasts as long as the lag, Sync at
	// least. It is the way from that master to replica that is long, whoever follows whom
	// afterwards.
	LagReplication(ctx context.Context, replica string, by time.Duration) error
}
