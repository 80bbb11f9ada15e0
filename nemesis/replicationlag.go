package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// ReplicationLagF is a replica that is behind its master by a time.
const ReplicationLagF histories.F = "replication-lag"

const (
	// lagProbe is a key that is written to see when it arrives, and deleted.
	lagProbe = "lockbench:lag"
	// lagLimit is how long a master is waited for to take the write, and how much longer
	// than the lag the write may be on its way before nobody waits for it any more.
	lagLimit = 2 * time.Second
	// lagLooks is how many times per lag the replica is looked at.
	lagLooks = 50
)

// lagging is a deployment whose replicas can be made to lag behind.
type lagging interface {
	cluster.Cluster
	cluster.Commander
	cluster.Lagger
}

// replicationLag makes what master sends to replica arrive by so much later, until it is
// healed: a failover or a read meets old data (P14). Other than with cutReplication
// everything arrives in the end, unless the replica is promoted before. It begins with a
// write of its own, and is in force once that was seen to arrive late, or not to arrive.
func replicationLag(c lagging, clock Clock, master, replica string, by time.Duration) Fault {
	return Fault{
		F: ReplicationLagF, Target: replica, Plan: fmt.Sprintf("what its master sends arrives %v later", by),
		Start: func(ctx context.Context) (string, error) {
			if err := c.LagReplication(ctx, replica, by); err != nil {
				return "", err
			}
			seen, err := seeLag(ctx, c, clock, master, replica, by)
			if err != nil {
				err = errors.Join(err, c.LagReplication(ctx, replica, 0))
			}
			return seen, err
		},
		Stop: func(ctx context.Context) (string, error) {
			have, sent, err := c.Offsets(ctx, replica)
			return "at the end " + stream(have, have, sent), errors.Join(err, c.LagReplication(ctx, replica, 0))
		},
	}
}

// seeLag writes to master and looks how long that takes to arrive at replica. One that does
// not arrive is no error: something else may keep it. One that arrives too early is.
func seeLag(ctx context.Context, c lagging, clock Clock, master, replica string, by time.Duration) (seen string, err error) {
	began := clock.Now()
	value := fmt.Sprint(began.UnixNano())
	short, cancel := context.WithTimeout(ctx, lagLimit)
	defer cancel()
	if _, err := c.Do(short, master, "SET", lagProbe, value, "PX", "60000"); err != nil {
		return "its master took no write", nil //nolint:nilerror // it may be full, stopped or gone
	}
	have, sent, err := c.Offsets(ctx, replica)
	if err != nil {
		return "", err
	}
	seen = "after a write " + stream(have, have, sent)
	took, arrived, err := arrival(ctx, c, clock, replica, value, began, by)
	switch {
	case err != nil:
		return seen, err
	case !arrived:
		return seen + fmt.Sprintf(", and the write had not arrived after %v", took.Round(time.Microsecond)), nil
	case took < by:
		return seen, fmt.Errorf("want %s to be %v behind, but a write arrived after %v", replica, by, took)
	}
	// A master that does not take it lets it expire.
	short, cancel = context.WithTimeout(ctx, lagLimit)
	defer cancel()
	_, _ = c.Do(short, master, "DEL", lagProbe)
	return seen + fmt.Sprintf(", and the write arrived after %v", took.Round(time.Microsecond)), nil
}

// arrival waits for the write of value, and says how long it took since began.
func arrival(ctx context.Context, c cluster.Cluster, clock Clock, replica, value string, began time.Time, by time.Duration) (took time.Duration, arrived bool, err error) {
	for {
		keys, err := c.Inspect(ctx, replica, 0, lagProbe)
		if err != nil {
			return 0, false, err
		}
		took := clock.Now().Sub(began)
		if arrived := keys[0].Value == value; arrived || took > by+lagLimit {
			return took, arrived, nil
		}
		if err := clock.Sleep(ctx, max(by/lagLooks, time.Millisecond)); err != nil {
			return took, false, err
		}
	}
}

func replicationLagKind() Kind {
	return Kind{
		Name: "replication-lag", Title: "what a master sends to its replica arrives late", F: ReplicationLagF, Replicas: 1,
		Unsupported: func(c cluster.Cluster) error {
			if _, ok := c.(lagging); !ok {
				return errors.New("its replicas follow their masters past lockbench")
			}
			return nil
		},
		Hits: HitsReplicas, Amount: ByTime,
		Begins: "what the master sends to its replicas arrives late, by {by}",
		Ends:   "what the master sends to its replicas arrives at once again",
		Make: func(s Scene, t Target) (Fault, error) {
			c, err := capable[lagging](s, "make replicas lag")
			return replicationLag(c, s.Clock, s.Cluster.Primary(0), t.Replica, t.By), err
		},
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, ok := pickReplica(s, r)
			// From what outlasts a round trip to what outlasts a lease.
			by := s.TTL/4 + time.Duration(r.Int64N(int64(s.TTL)*3/4+1))
			t.By = by.Round(time.Millisecond)
			return t, ok
		},
	}
}
