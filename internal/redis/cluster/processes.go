package cluster

import (
	"context"

	"github.com/lockbench/lockbench/internal/osproc"
)

// Processes is a deployment whose nodes are processes of their own.
type Processes interface {
	// Usage looks at the process of node. That it does not run is an error.
	Usage(ctx context.Context, node string) (osproc.Usage, error)
	// Stopped looks whether the process of node stands still, and says which it is.
	Stopped(ctx context.Context, node string) (pid int, stopped bool, err error)
}
