package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// Replies that never arrive.
const (
	LostReplyF histories.F = "lost-reply"
	HungReplyF histories.F = "hung-reply"
)

// LostReply swallows the reply to the next command of those that a client sends to one
// server, and breaks the connection. The server has executed the command; the client cannot
// know (P26). Healing disarms it if no command came.
func LostReply(client string, link *wire.Link, of wire.Match) Fault {
	return lost(LostReplyF, client, link, of, wire.CloseConn, "the reply to its next command gets lost")
}

// HungReply is LostReply without an end: the connection stays open and says nothing any
// more, so that the client waits until it gives up by itself.
func HungReply(client string, link *wire.Link) Fault {
	return lost(HungReplyF, client, link, wire.Match{}, wire.Hang, "the reply to its next command gets lost, and the connection hangs")
}

func lost(f histories.F, client string, link *wire.Link, of wire.Match, then wire.AfterDrop, plan string) Fault {
	var hold *wire.Hold
	return Fault{
		F: f, Target: client, Plan: plan,
		Start: func(context.Context) (string, error) {
			hold = link.DropReply(of, then)
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			hold.Release()
			// Not Seen: the client may hear of the loss a moment before that is closed.
			if lost := hold.Command(); lost.Name != "" {
				return "lost: the reply to " + lost.String(), nil
			}
			return "no command came", nil
		},
		Missed: func() string { return missing(hold) },
	}
}

// missing says which of some rules met no command; empty if all did.
func missing(holds ...*wire.Hold) string {
	n := 0
	for _, h := range holds {
		if h.Command().Name == "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("the replies that were to get lost did not come: %d of %d", n, len(holds))
}

func lostReplyKind() Kind {
	return Kind{
		Name: "lost-reply", Title: "a server executes a command and its reply gets lost", F: LostReplyF, Client: true, Resends: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			client, link, ok := s.connection(r)
			return LostReply(client, link, wire.Match{}), ok
		},
	}
}

func hungReplyKind() Kind {
	return Kind{
		Name: "hung-reply", Title: "a server executes a command, its reply gets lost, and the connection hangs", F: HungReplyF, Client: true, Resends: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			client, link, ok := s.connection(r)
			return HungReply(client, link), ok
		},
	}
}
