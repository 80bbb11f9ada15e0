package workloads

import (
	"context"
	"fmt"
)

// Draw lets a holder take the prize of a lottery's round, as an instance of a job does that
// shall run once.
func Draw(name string, round int64) Step {
	return call(fmt.Sprintf("%s draws round %d", name, round), name, func(ctx context.Context, _ *Stage, c *Client) error {
		return c.Draw(ctx, round)
	})
}
