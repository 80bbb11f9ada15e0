// Package cluster names what a Redis deployment under test can do. Its
// subpackages are the deployments: embedded (virtual time, in process), process
// (real redis-server processes) and external (servers of the user's own).
//
// Every connection of a client crosses a wire.Link, so that commands can be held,
// dropped and cut the same way on every backend.
package cluster

import (
	"context"
	"net"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// Role says what a node is for.
type Role string

// The roles of a node.
const (
	Master   Role = "master"
	Replica  Role = "replica"
	Register Role = "register" // the protected resource; never a lock server
)

// Node is one Redis server.
type Node struct {
	Name string
	Role Role
	Of   string // the master that a replica follows
}

// Cluster is a running deployment. Methods are safe for concurrent use.
type Cluster interface {
	Nodes() []Node
	// Primary is the node that serves shard now: the shard's master, or the replica
	// promoted in its place. Shards count from 0.
	Primary(shard int) string
	// Dial connects client to node through Link(client, node).
	Dial(ctx context.Context, client, node string) (net.Conn, error)
	// Link is the interposer between client and node. It exists before the first
	// dial, and the same pair gives the same Link.
	Link(client, node string) *wire.Link
	// Inspect looks at keys in a database of node without any client's connection.
	Inspect(ctx context.Context, node string, database int, keys ...string) ([]KeyState, error)
	// Alive reports whether node is running.
	Alive(node string) bool
	// Close stops everything and removes every trace.
	Close() error
}

// KeyState is what a server holds under one key. The zero value is an absent key.
type KeyState struct {
	Key      string
	Database int
	Exists   bool
	Type     string        // string, hash, ...
	Value    string        // of a string key
	TTL      time.Duration // remaining, of a hash at most until the last field ends; histories.NoTTL (-1) if the key never expires
	Fields   []Field       // of a hash its fields and values, of a sorted set its members and scores; by name
}

// Field is an entry of a hash or a sorted set.
type Field struct{ Name, Value string }

// Killer stops a node at once, as kill -9 does. What was not persisted is gone.
type Killer interface {
	Kill(ctx context.Context, node string) error
}

// Restarter starts a killed node again, empty.
type Restarter interface {
	Restart(ctx context.Context, node string) error
}

// Pauser stops a node without closing its connections, as SIGSTOP does.
type Pauser interface {
	Pause(ctx context.Context, node string) error
	Resume(ctx context.Context, node string) error
}

// VirtualTime marks servers that live in virtual time, in our own process: nothing outside
// of it can take part.
type VirtualTime interface {
	VirtualTime()
}

// Commander sends a command to node on nobody's behalf. It crosses no Link, so that no
// fault of the wire reaches it. An error reply is an error. A node that is down or
// paused does not answer: that is an error too, on real servers once ctx ends.
type Commander interface {
	Do(ctx context.Context, node string, args ...string) (wire.Reply, error)
}

// EvictionSimulator is for servers that do not know maxmemory.
type EvictionSimulator interface {
	// SimulateEviction deletes every key of node, as a server without memory does under
	// allkeys-lru, and returns how many there were.
	SimulateEviction(ctx context.Context, node string) (keys int64, err error)
}

// Replicator controls asynchronous replication.
type Replicator interface {
	// Sync returns once every replica of master has everything written so far.
	Sync(ctx context.Context, master string) error
	// CutReplication severs the link that feeds replica; HealReplication restores it.
	CutReplication(ctx context.Context, replica string) error
	HealReplication(ctx context.Context, replica string) error
	// Promote makes replica a master and the Primary of its shard. Writes that had
	// not reached it are lost.
	Promote(ctx context.Context, replica string) error
	// Offsets returns how much of its master's stream replica has, and how much
	// there was when the master was last seen alive.
	Offsets(ctx context.Context, replica string) (have, sent int64, err error)
}
