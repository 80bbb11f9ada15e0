package nemesis

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// Scene is what faults can hit.
type Scene struct {
	Cluster cluster.Cluster
	Shards  int           // masters of the lock
	Kept    cluster.Place // where the locks are kept; nowhere if that is not known
	Clients []Victim
	TTL     time.Duration
	Clock   Clock // the right time
}

// Clock is the time by which faults wait and tell how long they lasted.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// apart lets an instant pass between two things that a fault does which each wake somebody:
// at one instant nobody could say who acts first.
func apart(ctx context.Context, clock Clock) error { return clock.Sleep(ctx, 1) }

// Victim is a client that faults can hit.
type Victim struct {
	Name string
	Gate *Gate
	// Thread is where it stands while others of its process go on; nil: there are none, or the process is not ours.
	Thread *Gate
	View   *cluster.View
	Holds  func() bool // whether it believes to hold the lock just now
	Clock  WallClock   // nil: it cannot be set
	Calls  func() bool // whether a call of the lock or the register has begun and not ended; nil: nobody knows
	// Memory is what a crash wipes out.
	Memory Mortal
	// Process is the client's own, or nil if it has none.
	Process Process
}

// links are the connections of a client to the servers of the lock. Those to the register
// are spared: a client that cannot reach the resource cannot harm it.
func (s Scene) links(client string) []*wire.Link {
	var links []*wire.Link
	for _, n := range s.Cluster.Nodes() {
		if n.Role != cluster.Register {
			links = append(links, s.Cluster.Link(client, n.Name))
		}
	}
	return links
}

// allLinks are those, and the one to the register.
func (s Scene) allLinks(client string) []*wire.Link {
	var links []*wire.Link
	for _, n := range s.Cluster.Nodes() {
		links = append(links, s.Cluster.Link(client, n.Name))
	}
	return links
}

// client draws a client; half of the time one that holds the lock, for a fault that hits
// nobody's lease shows little.
func (s Scene) client(r *rand.Rand) Victim {
	if r.IntN(2) == 0 {
		for _, c := range s.Clients {
			if c.Holds() {
				return c
			}
		}
	}
	return s.Clients[r.IntN(len(s.Clients))]
}

// server draws a living server of the lock.
func (s Scene) server(r *rand.Rand) (string, bool) {
	shard := r.IntN(s.Shards)
	node := s.Cluster.Primary(shard)
	return node, s.Cluster.Alive(node)
}

// place draws one of the names under which the locks are kept. It draws nothing, and says so,
// if there is none.
func (s Scene) place(r *rand.Rand) (cluster.Place, bool) {
	if len(s.Kept.Names) == 0 {
		return cluster.Place{}, false
	}
	at := r.IntN(len(s.Kept.Names))
	return cluster.Place{Database: s.Kept.Database, Names: s.Kept.Names[at : at+1]}, true
}

// A Kind is a fault that can be asked for by name: in random runs, in schedules or in both.
type Kind struct {
	Name  string
	Title string
	F     histories.F
	// Client says that the fault hits a client or its connections, and no server's data.
	Client bool
	// Spares says that the fault hits a server and takes no key away from it.
	Spares bool
	// AtOnce says that the fault, if it takes keys away, does so when it begins and never later.
	AtOnce bool
	// Replicas is how many replicas the lock's first master must have.
	Replicas int
	// Sentinels is how many Redis Sentinels must watch over it. They fail over by themselves:
	// no fault whose Promotes is set may come in between.
	Sentinels int
	// Promotes says that the fault itself chooses the master.
	Promotes bool
	// Clocks says that servers must be started so that their clocks can be set.
	Clocks bool
	// Brief says that the fault does its harm at once and is healed soon.
	Brief bool
	// Longest is how long the fault lasts at most; 0 sets no limit.
	Longest time.Duration
	// Unsupported returns why no deployment of this sort can have the fault, or nil.
	Unsupported func(cluster.Cluster) error
	// Try finds out whether this very deployment can have the fault, where its sort can;
	// nil: it can.
	Try func(context.Context, cluster.Cluster) error
	// Means says how a deployment has the fault, where that is worth telling; nil: never.
	Means func(cluster.Cluster) string
	// Resends says that the fault sends commands twice, or loses their replies, so that clients do
	// that can.
	Resends bool
	// Virtual is the kind that stands in for this one in virtual time, where it cannot be had.
	// Empty: it can.
	Virtual string
	// Word is what schedules call it, where that is not its Name.
	Word string
	// Hits and Amount say what its Target needs.
	Hits   Hits
	Amount Amount
	// Keys says that it has to be known where the locks are kept.
	Keys bool
	// Begins and Ends say in schedules what happens when it begins and when it is stopped. In them stand {client}, {server} for what is
	// hit, {servers} for what a client is cut off from, {nth} for the number of a replica, {by} for an amount of time, and {times} for a rate. A
	// kind without Begins cannot be begun by a schedule, and one without Ends cannot be stopped. BeginsOnReply is for what goes
	// the other way; empty: the kind has no direction.
	Begins, BeginsOnReply, Ends string
	// Make makes one that hits the target. What the deployment cannot do is an *IncapableError.
	Make func(Scene, Target) (Fault, error)
	// Pick picks what a random run hits. False means that there is nothing to hit just now. Nil
	// means that schedules alone can begin the fault.
	Pick func(s Scene, r *rand.Rand) (Target, bool)
	// Clear takes from a server what the fault put there, and what may have come back with a replica
	// or from a disk since the fault was healed. Nil: there is no such thing.
	Clear func(ctx context.Context, c cluster.Cluster, node string, lock cluster.Place) error
}

// Draw makes one that hits what it picks. False means that there is nothing to hit just now.
func (k Kind) Draw(s Scene, r *rand.Rand) (Fault, bool) {
	t, ok := k.Pick(s, r)
	if !ok {
		return Fault{}, false
	}
	f, err := k.Make(s, t)
	return f, err == nil
}

// Scripted reports whether schedules alone can begin it, and random runs cannot.
func (k Kind) Scripted() bool { return k.Pick == nil }

// Written is what schedules call it.
func (k Kind) Written() string {
	if k.Word != "" {
		return k.Word
	}
	return k.Name
}

// Faults lists the faults whose kinds are so, HoldF among them, which hits clients and is no kind.
func Faults(are func(Kind) bool) []histories.F {
	var faults []histories.F
	for _, k := range append([]Kind{{F: HoldF, Client: true}}, kinds()...) {
		if are(k) {
			faults = append(faults, k.F)
		}
	}
	return faults
}

var kinds = sync.OnceValue(All) //nolint:gochecknoglobals // each run asks several times which of them are so, and nothing changes them

// anywhere is the Unsupported of a fault that every deployment can have.
func anywhere(cluster.Cluster) error { return nil }

// Find returns the kinds of those names that random runs can draw, or a *catalogue.UnknownError.
func Find(names []string) ([]Kind, error) {
	drawn := slices.DeleteFunc(All(), Kind.Scripted)
	var found []Kind
	for _, name := range names {
		k, err := catalogue.Find("nemesis", name, drawn, func(k Kind) string { return k.Name })
		if err != nil {
			return nil, err
		}
		found = append(found, k)
	}
	return found, nil
}

// FindWritten returns the kind that schedules call so, or a *catalogue.UnknownError.
func FindWritten(word string) (Kind, error) {
	return catalogue.Find("fault", word, All(), Kind.Written)
}
