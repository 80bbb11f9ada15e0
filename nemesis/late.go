package nemesis

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/words"
)

// LateF is a network that keeps what it is given, and delivers it late.
const LateF histories.F = "late"

// late freezes the connections between a client and the servers of the lock. What is
// under way is kept, and arrives when the fault is healed, even if its sender gave up
// long ago: this is how a SET lands after the clean-up that was to undo it (P27). The
// client itself goes on.
func late(client string, links []*wire.Link) Fault {
	return Fault{
		F: LateF, Target: client, Plan: "what it sends to the lock's servers, and what they answer, waits",
		Start: func(context.Context) (string, error) {
			for _, l := range links {
				l.Freeze()
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			return thaw(links, "waited, and is delivered"), nil
		},
	}
}

// thaw heals frozen links and says what became of what they kept.
func thaw(links []*wire.Link, what string) string {
	kept := 0
	for _, l := range links {
		kept += l.Thaw()
	}
	if kept == 0 {
		return "nothing was sent"
	}
	return "something on " + words.Count(kept, "connection") + " " + what
}

func lateKind() Kind {
	return Kind{
		Name: "late", Title: "what a client and the lock's servers send each other arrives late", F: LateF, Client: true, Unsupported: anywhere,
		Hits:   HitsClient,
		Begins: "what {client} and the lock's servers send each other waits",
		Ends:   "what {client} and the lock's servers sent each other arrives",
		Make:   onClient(func(s Scene, c Victim, _ Target) Fault { return late(c.Name, s.links(c.Name)) }),
		Pick:   pickClient,
	}
}
