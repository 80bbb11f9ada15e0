package nemesis

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// PauseF is a client that stands still.
const PauseF histories.F = "pause"

// Pause stops a client as a long garbage collection does: nothing that it sends
// leaves and nothing reaches it until it is healed. It is simulated on the wire: the
// client's own timers go on.
func Pause(client string, links []*wire.Link) Fault {
	return Fault{
		F: PauseF, Target: client, Plan: "client stands still (simulated on the wire)",
		Start: func(context.Context) (string, error) {
			for _, l := range links {
				l.Freeze()
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			for _, l := range links {
				l.Thaw()
			}
			return "client goes on", nil
		},
	}
}
