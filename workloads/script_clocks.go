package workloads

import (
	"context"

	"github.com/lockbench/lockbench/nemesis"
)

// ClientClockIsRight sets the clock of a client right again.
func ClientClockIsRight(name string) Step {
	return Step{"the clock of " + name + " is set right", func(ctx context.Context, s *Stage) error {
		return s.Nemesis.Stop(ctx, nemesis.ClientClockF, name)
	}}
}
