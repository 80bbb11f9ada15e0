// Package node is what the clusters of real Redis servers share: the links to their
// nodes, the replication between them, the commands that a harness sends on its own
// account, and the mark that tells a live run's belongings from a dead one's.
//
//	client ── in-process pipe ── wire.Link ── TCP ── redis-server
//	replica ── TCP ── our listener ── wire.Link ── TCP ── master
package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// ErrClosed is what the methods of a cluster return after Close.
var ErrClosed = errors.New("cluster is closed")

// Check reports whether topo can be started.
func Check(topo cluster.Topology) error {
	if topo.Masters < 1 || topo.Replicas < 0 {
		return fmt.Errorf("want a topology of at least 1 master and 0 or more replicas, got %d and %d",
			topo.Masters, topo.Replicas)
	}
	switch {
	case topo.ClusterMode && topo.Replicas+topo.Sentinels > 0:
		return errors.New("want a topology in cluster mode without replicas and Sentinels: in a Redis Cluster, failover is its own")
	case topo.Sentinels == 0:
		return nil
	case topo.Sentinels < 3:
		return fmt.Errorf("want 3 or more Sentinels or none, so that a majority outlives one of them; got %d", topo.Sentinels)
	case topo.Replicas == 0:
		return errors.New("want a replica for the Sentinels to promote, got none")
	}
	return nil
}

// Unknown is the error of a node that is not one of nodes.
func Unknown(name string, nodes []cluster.Node) error {
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return fmt.Errorf("no node %q in this cluster; it has %s", name, strings.Join(names, ", "))
}

// NotRunning is the error of asking a dead node for something. It wraps cluster.ErrNotRunning.
func NotRunning(name string) error { return fmt.Errorf("node %s %w", name, cluster.ErrNotRunning) }

// Refused is the error of dialing a dead node: a *net.OpError with
// syscall.ECONNREFUSED. Its address is not tried: by now it may be somebody else's.
func Refused(name string) error {
	return fmt.Errorf("node %s is not running: %w", name,
		&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
}
