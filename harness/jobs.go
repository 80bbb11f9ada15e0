package harness

import (
	"context"
	"runtime"

	"github.com/lockbench/lockbench/osproc"
)

// perRun is the memory of a run on real servers: up to seven servers and three clients in
// processes of their own.
const perRun = 256 << 20

// Jobs returns how many runs on a backend this machine bears at a time. In virtual time a run
// takes a processor for itself. On real servers it waits for most of its time, and too many
// runs make the clients late; then judges say less. workers says whether clients are processes
// of their own.
func Jobs(ctx context.Context, backend string, workers bool) int {
	free, err := osproc.FreeMemory(ctx)
	if err != nil { // a system that does not tell is asked for no more than the least
		free = 0
	}
	return jobs(backend, workers, runtime.GOMAXPROCS(0), free)
}

func jobs(backend string, workers bool, processors int, free int64) int {
	width := 0
	switch backend {
	case Embedded:
		return processors
	case Process:
		width = min(8*processors, 32)
	case Docker:
		width = min(4*processors, 16)
	default: // servers that others may need, too
		width = 4
	}
	if workers { // they take time to start
		width = (width + 1) / 2
	}
	return int(max(1, min(int64(width), free/perRun)))
}
