package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/words"
)

// RenewalCutF is a network that loses renewals.
const RenewalCutF histories.F = "renewal-cut"

// renewalCut loses the renewals of a client's lease, with the connections that they come
// on, and nothing else (P37). The client reaches the servers of the lock in every other
// respect: it can acquire and release.
//
// No command says that it renews, and each lock and library has its own. What tells it is
// when it comes: a command on a key of the lock that the client sends while it holds the
// lock and makes no call was sent in the background, and that is renewal. So one that
// coincides with a call of the client passes, and a straggler of an acquire whose other
// servers made the majority is lost with the renewals. What was lost is recorded.
func renewalCut(c Victim, links []*wire.Link, lock cluster.Place) Fault {
	var losses []*wire.Loss
	total := 0
	return Fault{
		F: RenewalCutF, Target: c.Name, Plan: "its renewals get lost",
		Start: func(context.Context) (string, error) {
			for _, l := range links {
				losses = append(losses, l.Lose(func(command wire.Command) bool {
					return command.On(lock.Database, lock.Names) && c.Holds() && !c.Calls()
				}))
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			example := wire.Command{}
			for _, l := range losses {
				l.Stop()
				n, first := l.Seen()
				if total == 0 {
					example = first
				}
				total += n
			}
			if total == 0 {
				return "no renewal came", nil
			}
			return fmt.Sprintf("%s lost, such as %v", words.Count(total, "renewal"), example), nil
		},
		Missed: func() string {
			if total == 0 {
				return "no renewal came that could get lost: want a lock that renews its leases (lockbench list locks)"
			}
			return ""
		},
	}
}

func renewalCutKind() Kind {
	return Kind{
		Name: "renewal-cut", Title: "a client's renewals get lost, and nothing else", F: RenewalCutF, Client: true, Unsupported: anywhere,
		Hits: HitsClient, Keys: true,
		Begins: "the renewals of {client} get lost on the network",
		Ends:   "renewals of {client} would arrive again",
		Make:   onClient(func(s Scene, c Victim, _ Target) Fault { return renewalCut(c, s.links(c.Name), s.Kept) }),
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			c := s.client(r)
			return Target{Clients: []string{c.Name}}, c.Calls != nil && len(s.Kept.Names) > 0
		},
	}
}
