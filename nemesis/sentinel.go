package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// SentinelF is a master that dies, and Sentinels that choose its successor.
const SentinelF histories.F = "sentinel"

// electionLimit bounds the wait for Sentinels. One whose machine stood still for two seconds
// does nothing for thirty (TILT).
const electionLimit = time.Minute

// sentinelFailover kills the master that Sentinels watch over, and returns once they have
// promoted another node or given up. Healing starts the old one again, as a replica of the
// new one: by themselves the Sentinels would need another ten seconds for that.
func sentinelFailover(c guarded, master string) Fault {
	var seen string
	return Fault{
		F: SentinelF, Target: master, Plan: "kill -9, and the Sentinels decide",
		Start: func(ctx context.Context) (_ string, err error) {
			if err := c.Kill(ctx, master); err != nil {
				return "", err
			}
			seen, err = elected(ctx, c, master)
			return "", err
		},
		Stop: func(ctx context.Context) (string, error) {
			back := "; the old one is back"
			if err := c.Restart(ctx, master); err != nil {
				return seen, err
			}
			if of := c.Master(master); of != "" {
				back += " as a replica of " + of
			}
			return seen + back, nil
		},
	}
}

// guarded is a deployment that Sentinels watch over, and whose servers can die and come back.
type guarded interface {
	cluster.Sentinel
	cluster.Restarter
	cluster.Demoter
}

// elected waits for the Sentinels and says what they did. That they promote nobody is
// something to be seen too.
func elected(ctx context.Context, c guarded, old string) (string, error) {
	waiting, cancel := context.WithTimeout(ctx, electionLimit)
	defer cancel()
	e, err := c.Elected(waiting, old)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Sprintf("the Sentinels have promoted nobody within %v", electionLimit), nil
	case err != nil:
		return "", err
	}
	have, sent, err := c.Offsets(ctx, e.Node)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("agreed to be dead after %v, %s is the master after %v, has %d of %d of the old one's stream",
		e.Down.Round(time.Millisecond), e.Node, e.Switched.Round(time.Millisecond), have, sent), nil
}

func sentinelKind() Kind {
	return Kind{
		Name: "sentinel", Title: "a master dies and Redis Sentinels promote its replica", F: SentinelF, Replicas: 1, Sentinels: 3, Virtual: "failover",
		Unsupported: func(c cluster.Cluster) error {
			if _, ok := c.(guarded); ok {
				return nil
			}
			if err := needsReplica(c); err != nil {
				return err
			}
			return errors.New("there is no embedded Sentinel, and they live in real time; failover promotes as they do")
		},
		Hits:   HitsMaster,
		Begins: "the master dies, and the Sentinels promote its replica",
		Ends:   "the old master comes back",
		Make: func(s Scene, _ Target) (Fault, error) {
			c, err := capable[guarded](s, "have Sentinels")
			return sentinelFailover(c, s.Cluster.Primary(0)), err
		},
		Pick: pickReplica, // there must be one to promote
	}
}
