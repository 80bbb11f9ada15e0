package nemesis

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
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

// hungReply is LostReply without an end: the connection stays open and says nothing any
// more, so that the client waits until it gives up by itself.
func hungReply(client string, link *wire.Link, of wire.Match) Fault {
	return lost(HungReplyF, client, link, of, wire.Hang, "the reply to its next command gets lost, and the connection hangs")
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
		Name: "lost-reply", Title: "a server executes a command and its reply gets lost", F: LostReplyF, Client: true, Resends: true, Unsupported: anywhere,
		Begins: "the next replies of {server} to {client} get lost",
		Ends:   "replies to {client} arrive again",
		Hits:   HitsConnection, Make: replyMaker(LostReply, lostReplies), Pick: pickConnection,
	}
}

func hungReplyKind() Kind {
	return Kind{
		Name: "hung-reply", Title: "a server executes a command, its reply gets lost, and the connection hangs", F: HungReplyF, Client: true, Resends: true, Unsupported: anywhere,
		Begins: "the next replies of {server} to {client} get lost, and the connections hang",
		Ends:   "replies to {client} arrive again",
		Hits:   HitsConnection, Make: replyMaker(hungReply, hungReplies), Pick: pickConnection,
	}
}

// replyMaker is the Make of a fault of the reply to any command to one server, or to certain commands to several.
func replyMaker(
	one func(client string, link *wire.Link, of wire.Match) Fault,
	several func(client string, nodes []string, links []*wire.Link, of []wire.Match) Fault,
) func(Scene, Target) (Fault, error) {
	return func(s Scene, t Target) (Fault, error) {
		c, err := s.victim(t)
		if err != nil {
			return Fault{}, err
		}
		node, err := t.node()
		if err != nil {
			return Fault{}, err
		}
		if t.Of == nil {
			return one(c.Name, s.Cluster.Link(c.Name, node), wire.Match{}), nil
		}
		var of []wire.Match
		for _, node := range t.Nodes {
			of = append(of, t.Of(node))
		}
		return several(c.Name, t.Nodes, s.linksTo(c.Name, t.Nodes), of), nil
	}
}
