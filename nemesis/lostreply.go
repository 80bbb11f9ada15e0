package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// LostReplyF is a reply that never arrives.
const LostReplyF histories.F = "lost-reply"

// LostReply swallows the reply to the next command that a client sends to one server,
// and breaks the connection. The server has executed the command; the client cannot
// know (P26). Healing disarms it if no command came.
func LostReply(client string, link *wire.Link) Fault {
	var hold *wire.Hold
	return Fault{
		F: LostReplyF, Target: client, Plan: "the reply to its next command gets lost",
		Start: func(context.Context) (string, error) {
			hold = link.DropReply(wire.Match{}, wire.CloseConn)
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			select {
			case <-hold.Seen():
				return "lost: the reply to " + hold.Command().String(), nil
			default:
				hold.Release()
				return "no command came", nil
			}
		},
	}
}

func lostReplyKind() Kind {
	return Kind{
		Name: "lost-reply", Title: "a server executes a command and its reply gets lost", F: LostReplyF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			node, alive := s.server(r)
			c := s.client(r)
			return LostReply(c.Name, s.Cluster.Link(c.Name, node)), alive
		},
	}
}
