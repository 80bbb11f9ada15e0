package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// LateF is a network that keeps what it is given, and delivers it late.
const LateF histories.F = "late"

// Late freezes the connections between a client and the servers of the lock. What is
// under way is kept, and arrives when the fault is healed, even if its sender gave up
// long ago: this is how a SET lands after the clean-up that was to undo it (P27). The
// client itself goes on.
func Late(client string, links []*wire.Link) Fault {
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
	return "something on " + count(kept, "connection") + " " + what
}

func lateKind() Kind {
	return Kind{
		Name: "late", Title: "what a client and the lock's servers send each other arrives late", F: LateF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c := s.client(r)
			return Late(c.Name, s.links(c.Name)), true
		},
	}
}
