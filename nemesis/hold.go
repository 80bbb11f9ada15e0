package nemesis

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// HoldF is one command, or its reply, that is held up on the network.
const HoldF histories.F = "hold"

// Hold is the fault of a rule that has caught a command of client. Healing lets the
// command go on; if its connection broke meanwhile, there is nothing left to go on.
func Hold(client string, h *wire.Hold) Fault {
	return Fault{
		F: HoldF, Target: client, Plan: h.Command().String(),
		Start: func(context.Context) (string, error) { return "", nil },
		Stop: func(context.Context) (string, error) {
			h.Release()
			return "no longer held", nil
		},
	}
}
