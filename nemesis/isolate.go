package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/histories"
)

// IsolateF is a server that nobody reaches, or that reaches nobody.
const IsolateF histories.F = "isolate"

// Deafen loses all packets to a server: it hears nobody any more.
func Deafen(c Network, node string) Fault {
	return isolation(c, node, "nothing gets through to it", cluster.Path{From: cluster.Anyone, To: node})
}

// Mute loses all packets from a server: it executes what it is asked on connections
// that it has, and nobody hears of it.
func Mute(c Network, node string) Fault {
	return isolation(c, node, "nothing gets through from it", cluster.Path{From: node, To: cluster.Anyone})
}

// Isolate loses all packets to a server and from it.
func Isolate(c Network, node string) Fault {
	return isolation(c, node, "nothing gets through to it or from it",
		cluster.Path{From: cluster.Anyone, To: node}, cluster.Path{From: node, To: cluster.Anyone})
}

func isolation(c Network, node, plan string, paths ...cluster.Path) Fault {
	return losing(Fault{F: IsolateF, Target: node, Plan: plan}, c, paths,
		func(ctx context.Context) error { return seeSilence(ctx, c, node) },
		func(context.Context) (string, error) { return "it did not answer PING", nil },
		func(ctx context.Context) (string, error) { return ", and does again", seeAnswer(ctx, c, node) })
}

func isolateKind() Kind {
	return Kind{
		Name: "isolate", Title: "packets to a server of the lock, from it or both are lost", F: IsolateF, Virtual: "stall",
		Needs: needsNetwork, Try: canDrop,
		Means: func(cluster.Cluster) string { return "iptables DROP in its container" },
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			c, ok := s.Cluster.(Network)
			ways := []func(Network, string) Fault{Deafen, Mute, Isolate}
			return ways[r.IntN(len(ways))](c, node), alive && ok
		},
	}
}
