package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// CutReplicationTo cuts the link that feeds one of several replicas of the first master.
// They count from 1.
func CutReplicationTo(number int) Step {
	return Step{fmt.Sprintf("the link from the master to its replica %d is cut", number), func(ctx context.Context, s *Stage) error {
		r, ok := s.Cluster.(cluster.Replicator)
		if !ok {
			return fmt.Errorf("this backend has no replication")
		}
		replica, _, err := s.replicas(number)
		if err != nil {
			return err
		}
		return s.Nemesis.Start(ctx, nemesis.CutReplication(r, replica))
	}}
}

// ReplicasLag makes what the first master sends to its replicas arrive late, by a part of the
// TTL. They stay connected, and say what they have.
func ReplicasLag(ttls float64) Step {
	return Step{fmt.Sprintf("what the master sends to its replicas arrives %v of the TTL late", ttls), func(ctx context.Context, s *Stage) error {
		c, err := capability[nemesis.Lagging](s, "make replicas lag")
		if err != nil {
			return err
		}
		master := s.Cluster.Primary(0)
		for _, node := range s.Cluster.Nodes() {
			if node.Role != cluster.Replica {
				continue
			}
			if err := s.Nemesis.Start(ctx, nemesis.ReplicationLag(c, s.Clock, master, node.Name, s.ttls(ttls))); err != nil {
				return err
			}
		}
		return nil
	}}
}

// MasterDiesForReplica ends the first master, and promotes one of its replicas. The others
// follow that one.
func MasterDiesForReplica(number int) Step {
	return Step{fmt.Sprintf("the master dies, and its replica %d is promoted", number), func(ctx context.Context, s *Stage) error {
		c, ok := s.Cluster.(nemesis.Replicated)
		if !ok {
			return fmt.Errorf("this backend has no replication that can fail over")
		}
		replica, others, err := s.replicas(number)
		if err != nil {
			return err
		}
		master := s.Cluster.Primary(0)
		if err := s.Nemesis.Start(ctx, nemesis.Failover(c, master, replica, others...)); err != nil {
			return err
		}
		return s.hungUp(ctx, master)
	}}
}

// replicas are the replica of that number and the others.
func (s *Stage) replicas(number int) (replica string, others []string, err error) {
	n := 0
	for _, node := range s.Cluster.Nodes() {
		if node.Role != cluster.Replica {
			continue
		}
		if n++; n == number {
			replica = node.Name
		} else {
			others = append(others, node.Name)
		}
	}
	if replica == "" {
		err = fmt.Errorf("this step needs %d replicas, and the topology has %d", number, n)
	}
	return replica, others, err
}

// hungUpLimit bounds the wait for connections to a dead server to end.
const hungUpLimit = 10 * time.Second

// hungUp returns once no client has a connection to a dead server any more: the next command
// of one that still had would get no answer, and not reach the successor. A link that is
// frozen keeps its connections' ends from the client, which does nothing meanwhile.
func (s *Stage) hungUp(ctx context.Context, node string) error {
	end := s.Clock.Now().Add(hungUpLimit)
	for _, c := range append([]*Client{s.Prober}, s.Clients...) {
		link := s.Cluster.Link(c.Name, node)
		for link.Open() > 0 && !link.Frozen(wire.Requests) && !link.Frozen(wire.Replies) {
			if s.Clock.Now().After(end) {
				return fmt.Errorf("%s is dead, and %s still has %d connections to it after %v", node, c.Name, link.Open(), hungUpLimit)
			}
			if err := s.Clock.Sleep(ctx, beat); err != nil {
				return err
			}
		}
	}
	return nil
}
