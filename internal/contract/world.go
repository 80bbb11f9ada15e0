package contract

import (
	"time"

	"github.com/lockbench/lockbench/locks"
)

// World is a deployment with the masters and replicas that a lock asks for.
type World interface {
	// Key is a name that nobody else uses.
	Key() string
	// Client is the surroundings of one more client, unlike all others even if their
	// names are the same. Env.Client identifies it below.
	Client(name string) locks.Env
	// Cut keeps the client from all masters: what it sends gets lost, and its connections
	// stay silent, until Heal breaks them.
	Cut(client string)
	Heal(client string)
	// LoseReplies swallows, once on every master, the reply to the client's next command.
	// The connection hangs from then on.
	LoseReplies(client string)
	// Sleep lets time pass, for the servers too. One goroutine uses it at a time.
	Sleep(d time.Duration)
	// Inspect looks, on every master in node order and past all clients, at every key
	// whose name contains key.
	Inspect(key string) ([]map[string]Value, error)
	// Virtual says that time stands still while the machine is busy: no call times out
	// by itself, and durations are exact.
	Virtual() bool
}

// Value is what a master holds under a key.
type Value struct {
	Type string
	Text string        // the whole content, in an order that does not change by itself
	TTL  time.Duration // remaining; negative if the key never expires
}
