package nemesis

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
)

// lostReplies is LostReply on several servers at once: of each, the reply to the next command
// of the client that its match fits gets lost. Healing disarms it where no command came.
func lostReplies(client string, nodes []string, links []*wire.Link, of []wire.Match) Fault {
	return loseReplies(LostReplyF, client, nodes, links, of, wire.CloseConn, "get lost")
}

// hungReplies is lostReplies without an end: the connections stay open and say nothing any more.
func hungReplies(client string, nodes []string, links []*wire.Link, of []wire.Match) Fault {
	return loseReplies(HungReplyF, client, nodes, links, of, wire.Hang, "get lost, and the connections hang")
}

func loseReplies(f histories.F, client string, nodes []string, links []*wire.Link, of []wire.Match, then wire.AfterDrop, plan string) Fault {
	var holds []*wire.Hold
	return Fault{
		F: f, Target: client, Plan: "the replies to its next commands to " + strings.Join(nodes, ", ") + " " + plan,
		Start: func(context.Context) (string, error) {
			for i, l := range links {
				holds = append(holds, l.DropReply(of[i], then))
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			var lost []string
			for i, hold := range holds {
				hold.Release()
				if c := hold.Command(); c.Name != "" { // not Seen, see lost
					lost = append(lost, fmt.Sprintf("of %s to %s", nodes[i], c.Name))
				}
			}
			if len(lost) == 0 {
				return "no command came", nil
			}
			return "lost: the replies " + strings.Join(lost, ", "), nil
		},
		Missed: func() string { return missing(holds...) },
	}
}
