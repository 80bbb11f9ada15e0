package cluster

import "context"

// Fsync says when a server makes sure that its append-only file (AOF) is on the disk:
// the values of Redis' appendfsync.
type Fsync string

// What a server does with its AOF.
const (
	// FsyncAlways syncs before a write is answered: what was answered is never lost.
	FsyncAlways Fsync = "always"
	// FsyncEverySec syncs once a second: a power loss takes the writes of the last second
	// or two, a kill -9 none while the disk keeps up.
	FsyncEverySec Fsync = "everysec"
)

// Persister is a deployment whose servers can keep what they hold in an append-only
// file. They do not before Persist.
type Persister interface {
	Killer
	// Persist makes a running node keep an AOF, and returns once everything that node
	// holds is in it. That lasts: Restart deletes the file, and begins another.
	Persist(ctx context.Context, node string, fsync Fsync) error
	// Recover starts a killed node again with what its AOF holds. It returns the keys
	// that node came back with, by name, as they were before any client could reach it.
	Recover(ctx context.Context, node string) ([]KeyState, error)
	// SimulatedAOF says that there is no file, but a copy of the data with its
	// expiries that does what the file would.
	SimulatedAOF() bool
}

// PowerCutter is a deployment that can do to an AOF what a power loss does. No machine
// loses power, so that it is always simulated: what is written after a certain instant
// is cut off, as if it had not been synced.
type PowerCutter interface {
	Persister
	// StopSyncing makes the present end of node's AOF the last that was synced. From then on
	// node does not sync it, and WAITAOF waits in vain, until Recover.
	StopSyncing(ctx context.Context, node string) error
	// LosePower kills node and cuts its AOF back to where StopSyncing found it.
	LosePower(ctx context.Context, node string) (PowerLoss, error)
}

// PowerLoss is what a node lost with its power.
type PowerLoss struct {
	Had []KeyState // the keys at the instant of its death, by name
	Cut string     // what was cut off its AOF, for people: "153 bytes of its AOF"
}
