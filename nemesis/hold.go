package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
)

// HoldF is a command, or its reply, that is held up on the network.
const HoldF histories.F = "hold"

// Hold is the fault of rules that have each caught a command of client: one, or the same
// one on several servers. Healing lets the commands go on; where the connection broke
// meanwhile, there is nothing left to go on.
func Hold(client string, holds ...*wire.Hold) Fault {
	plan := holds[0].Command().String()
	if len(holds) > 1 {
		plan += fmt.Sprintf(" on %d servers", len(holds))
	}
	held := 0
	return Fault{
		F: HoldF, Target: client, Plan: plan,
		Start: func(context.Context) (string, error) {
			for _, h := range holds {
				if !h.Holding() {
					return "", errors.New("the rule holds nothing")
				}
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			for _, h := range holds {
				if h.Holding() {
					held++
				}
				h.Release()
			}
			switch {
			case held == 0:
				return "its connection has ended meanwhile, and nothing goes on", nil
			case held < len(holds):
				return fmt.Sprintf("it was held until now, and goes on on %d of %d servers", held, len(holds)), nil
			}
			return "it was held until now, and goes on", nil
		},
		Missed: func() string {
			if held == 0 {
				return "the connection of what was held up has ended meanwhile, and nothing went on"
			}
			return ""
		},
	}
}
