package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// OneWayF is a network that carries nothing in one direction.
const OneWayF histories.F = "one-way"

// OneWay cuts one direction between a client and the servers of the lock. As TCP sends
// again what got lost, it arrives when the fault is healed: until then servers do not
// hear the client, or execute what it asks and cannot tell it.
func OneWay(client string, links []*wire.Link, cut wire.Direction) Fault {
	plan := "the lock's servers do not hear it any more"
	if cut == wire.Replies {
		plan = "it does not hear the lock's servers any more, and they hear it"
	}
	return Fault{
		F: OneWayF, Target: client, Plan: plan,
		Start: func(context.Context) (string, error) {
			for _, l := range links {
				l.FreezeOneWay(cut)
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			return thaw(links, "got lost, and is sent again"), nil
		},
	}
}

func oneWayKind() Kind {
	return Kind{
		Name: "one-way", Title: "nothing gets through between a client and the lock's servers, in one direction", F: OneWayF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c := s.client(r)
			return OneWay(c.Name, s.links(c.Name), wire.Direction(r.IntN(2))), true
		},
	}
}
