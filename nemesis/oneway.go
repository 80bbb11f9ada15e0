package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
)

// OneWayF is a network that carries nothing in one direction.
const OneWayF histories.F = "one-way"

// oneWay cuts one direction between a client and the servers of the lock. As TCP sends
// again what got lost, it arrives when the fault is healed: until then servers do not
// hear the client, or execute what it asks and cannot tell it.
func oneWay(client string, links []*wire.Link, cut wire.Direction) Fault {
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
		Name: "one-way", Title: "nothing gets through between a client and the lock's servers, in one direction", F: OneWayF, Client: true, Unsupported: anywhere,
		Hits:          HitsClient,
		Begins:        "the lock's servers do not hear {client} any more",
		BeginsOnReply: "{client} does not hear the lock's servers any more, and they hear it",
		Ends:          "{client} and the lock's servers hear each other again, and what was sent meanwhile arrives",
		Make: onClient(func(s Scene, c Victim, t Target) Fault {
			cut := wire.Requests
			if t.Way == ToIt {
				cut = wire.Replies
			}
			return oneWay(c.Name, s.links(c.Name), cut)
		}),
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, ok := pickClient(s, r)
			t.Way = []Way{FromIt, ToIt}[r.IntN(2)]
			return t, ok
		},
	}
}
