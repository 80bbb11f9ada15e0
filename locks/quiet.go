package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Quiet keeps go-redis from writing to stderr what its failover clients do. It concerns the
// whole process, and so it is for main to call, before anything else.
func Quiet() { redis.SetLogger(silent{}) }

// silent is a logger that writes nothing.
type silent struct{}

// Printf implements the logger of go-redis.
func (silent) Printf(context.Context, string, ...any) {}
