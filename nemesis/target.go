package nemesis

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// Target is what a fault is to hit, and how. A kind looks at those fields that its Hits and Amount name, and at
// those whose comment names it.
type Target struct {
	// Clients are the names of the clients: one, or those that stay with the old master (split-brain).
	Clients []string
	// Nodes are servers: the one that is hit, or those that the client is cut off from.
	// None means all of the lock's, where a client is hit.
	Nodes   []string
	Replica string // of the first master
	// By is how far a clock jumps, or how much later something arrives.
	By     time.Duration
	Jitter time.Duration // up to which By varies (latency), drawn from Seed
	Seed   uint64
	Rate   float64 // at which a clock runs
	Way    Way     // one-way, isolate, drop-replication
	// Keys are those of the lock that are meant (squatter, duplicate). None means all.
	Keys cluster.Place
	// Of returns the commands that are meant, of those to a server (lost-reply, hung-reply). Nil means any.
	Of func(node string) wire.Match
	// Register says that the client's connections to the register are hit too (pause).
	Register bool
}

// Way is a direction, as seen by what a fault hits.
type Way int

// The ways of a network that can be cut.
const (
	BothWays Way = iota
	ToIt
	FromIt
)

// Hits says what sort of thing a fault hits, and so which Target it needs.
type Hits int

// The sorts.
const (
	HitsClient      Hits = iota // a client
	HitsConnections             // the connections of a client to servers: to all, or to those that are named
	HitsConnection              // the connection of a client to a server: to the first, or to those that are named
	HitsServer                  // a server
	HitsServers                 // a server, and all of them if a schedule begins it
	HitsMaster                  // the first master
	HitsReplica                 // a replica of the first master
	HitsReplicas                // a replica of the first master, and all of them if a schedule begins it
)

// Amount says what else than its Target's names a fault has to be told.
type Amount int

// The amounts.
const (
	NoAmount Amount = iota
	ByTime          // Target.By
	AtRate          // Target.Rate
)

// IncapableError says that a fault or a step needs what a deployment cannot do.
type IncapableError struct{ Want string } // such as: kill a server

func (e *IncapableError) Error() string { return "this backend cannot " + e.Want }

// capable returns the side of a deployment that a fault needs, or an *IncapableError.
func capable[T any](s Scene, want string) (T, error) {
	c, ok := s.Cluster.(T)
	if !ok {
		return c, &IncapableError{Want: want}
	}
	return c, nil
}

// What faults of several kinds want of a deployment.
const (
	wantCommands  = "be sent commands past the clients"
	wantReplicas  = "replicate"
	wantFailover  = "fail over"
	wantRestart   = "kill a server and start it again"
	wantFile      = "keep an append-only file"
	wantMemory    = "fill the memory of a server"
	wantPackets   = "lose packets between servers"
	wantWallClock = "set the clock of a server"
)

// onServer is the Make of a fault of one server that takes nothing but the deployment's side T.
func onServer[T any](want string, f func(T, string) Fault) func(Scene, Target) (Fault, error) {
	return func(s Scene, t Target) (Fault, error) {
		c, err := capable[T](s, want)
		if err != nil {
			return Fault{}, err
		}
		node, err := t.node()
		return f(c, node), err
	}
}

// onClient is the Make of a fault of one client.
func onClient(f func(Scene, Victim, Target) Fault) func(Scene, Target) (Fault, error) {
	return func(s Scene, t Target) (Fault, error) {
		c, err := s.victim(t)
		if err != nil {
			return Fault{}, err
		}
		return f(s, c, t), nil
	}
}

// onClock is the Make of a fault of the clock of one client.
func onClock(f func(Scene, Victim, Target) Fault) func(Scene, Target) (Fault, error) {
	return func(s Scene, t Target) (Fault, error) {
		c, err := s.victim(t)
		if err == nil && c.Clock == nil {
			err = &IncapableError{Want: "set the clock of client " + c.Name}
		}
		if err != nil {
			return Fault{}, err
		}
		return f(s, c, t), nil
	}
}

// onSuccession is the Make of a fault of the first master's living replicas, of which one is told from the others.
func onSuccession[T any](want string, f func(s Scene, c T, master, replica string, others []string) Fault) func(Scene, Target) (Fault, error) {
	return func(s Scene, t Target) (Fault, error) {
		c, err := capable[T](s, want)
		if err != nil {
			return Fault{}, err
		}
		master, others, err := s.succession(t.Replica)
		return f(s, c, master, t.Replica, others), err
	}
}

// succession returns the first master and its living replicas but for one.
func (s Scene) succession(replica string) (master string, others []string, err error) {
	master, replicas := followers(s.Cluster)
	found := false
	for _, r := range replicas {
		if r == replica {
			found = true
			continue
		}
		others = append(others, r)
	}
	if !found {
		err = fmt.Errorf("want a living replica of %s, found %q among %q", master, replica, replicas)
	}
	return master, others, err
}

// victim returns the client that is hit.
func (s Scene) victim(t Target) (Victim, error) {
	if len(t.Clients) == 0 {
		return Victim{}, fmt.Errorf("want the name of a client to hit, found none")
	}
	return s.named(t.Clients[0])
}

func (s Scene) named(client string) (Victim, error) {
	for _, c := range s.Clients {
		if c.Name == client {
			return c, nil
		}
	}
	return Victim{}, fmt.Errorf("want one of %s, found no client %q", names(s.Clients), client)
}

// node returns the server that is hit.
func (t Target) node() (string, error) {
	if len(t.Nodes) == 0 {
		return "", fmt.Errorf("want the name of a server to hit, found none")
	}
	return t.Nodes[0], nil
}

// linksTo are the connections of a client to the servers that are named.
func (s Scene) linksTo(client string, nodes []string) []*wire.Link {
	links := make([]*wire.Link, len(nodes))
	for i, node := range nodes {
		links[i] = s.Cluster.Link(client, node)
	}
	return links
}

// keys are those that are meant.
func (s Scene) keys(t Target) cluster.Place {
	if len(t.Keys.Names) > 0 {
		return t.Keys
	}
	return s.Kept
}

// pickClient picks a client; half of the time one that holds the lock.
func pickClient(s Scene, r *rand.Rand) (Target, bool) {
	return Target{Clients: []string{s.client(r).Name}}, true
}

// pickServer picks a living server of the lock.
func pickServer(s Scene, r *rand.Rand) (Target, bool) {
	node, alive := s.server(r)
	return Target{Nodes: []string{node}}, alive
}

// pickConnection picks a client and a living server of the lock.
func pickConnection(s Scene, r *rand.Rand) (Target, bool) {
	node, alive := s.server(r)
	return Target{Clients: []string{s.client(r).Name}, Nodes: []string{node}}, alive
}

// pickReplica picks the first living replica of the first master.
func pickReplica(s Scene, _ *rand.Rand) (Target, bool) {
	_, replica, ok := successor(s.Cluster)
	return Target{Replica: replica}, ok
}
