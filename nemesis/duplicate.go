package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// DuplicateF is a command that is sent twice.
const DuplicateF histories.F = "duplicate"

// Duplicate has a server execute a client's next command of those twice, as a proxy or
// a client library does that tries again after a reply was lost: the same bytes, first on
// a connection of their own, whose reply the client never sees, and then on the client's
// (P26, P33). Healing disarms it if no command came.
func Duplicate(client string, link *wire.Link, of wire.Match) Fault {
	var rule *wire.Repeat
	return Fault{
		F: DuplicateF, Target: client, Plan: "its next command on " + place(of).String() + " is sent twice",
		Start: func(context.Context) (string, error) {
			rule = link.Repeat(of)
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			rule.Stop()
			seen := rule.Seen()
			switch {
			case seen.Command.Name == "":
				return "no command came", nil
			case seen.Err != nil:
				return fmt.Sprintf("not executed twice: %v: %v", seen.Command, seen.Err), nil
			case seen.First == "":
				return fmt.Sprintf("sent twice: %v; no reply yet", seen.Command), nil
			case seen.Second == "":
				return fmt.Sprintf("executed: %v: %s, lost; no reply yet to the second", seen.Command, seen.First), nil
			}
			return fmt.Sprintf("executed twice: %v: %s, lost, then %s", seen.Command, seen.First, seen.Second), nil
		},
		Missed: func() string {
			if seen := rule.Seen(); seen.Second == "" || seen.First == "" {
				return "no command was executed twice"
			}
			return ""
		},
	}
}

// place is where the keys of a match are.
func place(m wire.Match) cluster.Place { return cluster.Place{Database: m.Database, Names: m.Keys} }

func duplicateKind() Kind {
	return Kind{
		Name: "duplicate", Title: "a command is sent twice, and the first reply gets lost", F: DuplicateF, Client: true, Resends: true, Unsupported: anywhere,
		Hits: HitsConnection, Keys: true,
		Begins: "the next command of {client} to {server} on the lock's key is sent twice",
		Ends:   "commands of {client} are sent once again",
		Make: func(s Scene, t Target) (Fault, error) {
			c, err := s.victim(t)
			if err != nil {
				return Fault{}, err
			}
			node, err := t.node()
			if err != nil {
				return Fault{}, err
			}
			lock := s.keys(t)
			return Duplicate(c.Name, s.Cluster.Link(c.Name, node), wire.Match{Database: lock.Database, Keys: lock.Names}), nil
		},
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, alive := pickConnection(s, r)
			keys, known := s.place(r)
			t.Keys = keys
			return t, alive && known
		},
	}
}
