package locks

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// Quiet keeps go-redis from writing to stderr what its failover clients do. It concerns the
// whole process, and so it is for main to call, before anything else.
func Quiet() { redis.SetLogger(&logging.VoidLogger{}) }
