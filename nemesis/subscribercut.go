package nemesis

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/words"
)

// SubscriberCutF is a network that breaks subscriptions.
const SubscriberCutF histories.F = "subscriber-cut"

// subscriberCut breaks the connections on which a client waits for messages of the lock's
// servers, and any new one that subscribes, until it is healed: who waits for a release is
// not told of it. Other connections of the client live on.
func subscriberCut(client string, links []*wire.Link, clock Clock) Fault {
	broken := 0
	return Fault{
		F: SubscriberCutF, Target: client, Plan: "its subscriptions break",
		Start: func(ctx context.Context) (string, error) {
			for _, l := range links {
				broken += l.CutSubscribers()
				if err := apart(ctx, clock); err != nil {
					return "", err
				}
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			refused := 0
			for _, l := range links {
				refused += l.HealSubscribers()
			}
			if broken+refused == 0 {
				return "it had none, and wanted none", nil
			}
			return fmt.Sprintf("%s broken, %d more refused", words.Count(broken, "subscription"), refused), nil
		},
	}
}

func subscriberCutKind() Kind {
	return Kind{
		Name: "subscriber-cut", Title: "a client's subscriptions to the lock's servers break", F: SubscriberCutF, Client: true, Unsupported: anywhere,
		Hits:   HitsClient,
		Begins: "the subscriptions of {client} to the lock's servers break",
		Ends:   "subscriptions of {client} hold again",
		Make:   onClient(func(s Scene, c Victim, _ Target) Fault { return subscriberCut(c.Name, s.links(c.Name), s.Clock) }),
		Pick:   pickClient,
	}
}
