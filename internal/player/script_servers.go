package player

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// links are the connections of a client to every node, the register included.
func (s *Stage) links(client string) []*wire.Link {
	var links []*wire.Link
	for _, n := range s.Cluster.Nodes() {
		links = append(links, s.Cluster.Link(client, n.Name))
	}
	return links
}

// lockLinks are the connections of a client to the servers of the lock.
func (s *Stage) lockLinks(client string) []*wire.Link {
	var links []*wire.Link
	for _, n := range s.Cluster.Nodes() {
		if n.Role != cluster.Register {
			links = append(links, s.Cluster.Link(client, n.Name))
		}
	}
	return links
}

// register is the node of the protected register.
func (s *Stage) register() string {
	for _, n := range s.Cluster.Nodes() {
		if n.Role == cluster.Register {
			return n.Name
		}
	}
	return ""
}

// replicas are the replica of the first master with that number, counting from 1, and the others.
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
		err = fmt.Errorf("this step needs %d replicas, and the topology has %d (replicas %d)", number, n, number)
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
