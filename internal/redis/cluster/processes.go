package cluster

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/internal/osproc"
)

// ErrNotRunning says that a node is dead.
var ErrNotRunning = errors.New("is not running")

// Processes is a deployment whose nodes are processes of their own.
type Processes interface {
	// Usage looks at the process of node. One that does not run is an error that wraps ErrNotRunning, and one
	// that ended meanwhile an error that wraps osproc.ErrEnded.
	Usage(ctx context.Context, node string) (osproc.Usage, error)
	// Stopped looks whether the process of node stands still, and says which it is.
	Stopped(ctx context.Context, node string) (pid int, stopped bool, err error)
}
