package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// IsolateF is a server that nobody reaches, or that reaches nobody.
const IsolateF histories.F = "isolate"

// deafen loses all packets to a server: it hears nobody any more.
func deafen(c network, node string) Fault {
	return isolation(c, node, "nothing gets through to it", cluster.Path{From: cluster.Anyone, To: node})
}

// mute loses all packets from a server: it executes what it is asked on connections
// that it has, and nobody hears of it.
func mute(c network, node string) Fault {
	return isolation(c, node, "nothing gets through from it", cluster.Path{From: node, To: cluster.Anyone})
}

// isolate loses all packets to a server and from it.
func isolate(c network, node string) Fault {
	return isolation(c, node, "nothing gets through to it or from it",
		cluster.Path{From: cluster.Anyone, To: node}, cluster.Path{From: node, To: cluster.Anyone})
}

func isolation(c network, node, plan string, paths ...cluster.Path) Fault {
	return losing(Fault{F: IsolateF, Target: node, Plan: plan}, c, paths,
		func(ctx context.Context) error { return seeSilence(ctx, c, node) },
		func(context.Context) (string, error) { return "it did not answer PING", nil },
		func(ctx context.Context) (string, error) { return ", and does again", seeAnswer(ctx, c, node) })
}

func isolateKind() Kind {
	return Kind{
		Name: "isolate", Title: "packets to a server of the lock, from it or both are lost", F: IsolateF, Virtual: "stall",
		Unsupported: needsNetwork, Try: canDrop,
		Means:  func(cluster.Cluster) string { return "iptables DROP in its container" },
		Hits:   HitsServer,
		Begins: "packets to {server} and from there are lost",
		Ends:   "packets to {server} and from there arrive again",
		Make: func(s Scene, t Target) (Fault, error) {
			ways := map[Way]func(network, string) Fault{BothWays: isolate, ToIt: deafen, FromIt: mute}
			return onServer(wantPackets, ways[t.Way])(s, t)
		},
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, alive := pickServer(s, r)
			t.Way = []Way{ToIt, FromIt, BothWays}[r.IntN(3)]
			return t, alive
		},
	}
}
