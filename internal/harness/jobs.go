package harness

import (
	"context"
	"runtime"

	"github.com/lockbench/lockbench/internal/osproc"
)

// perRun is the memory of a run on real servers: up to seven servers and three clients in
// processes of their own.
const perRun = 256 << 20

// Jobs returns how many runs on a backend this machine bears at a time. In virtual time a run
// takes a processor for itself, and next to no memory. On real servers it waits for most of its time, and too many
// runs make the clients late; then judges say less. workers says whether clients are processes
// of their own.
func Jobs(ctx context.Context, backend Backend, workers bool) int {
	free, err := osproc.FreeMemory(ctx)
	if err != nil { // a system that does not tell is asked for no more than the least
		free = 0
	}
	return jobs(backend, workers, runtime.GOMAXPROCS(0), free)
}

func jobs(backend Backend, workers bool, processors int, free int64) int {
	if backend.Virtual() || backend.Width == nil {
		return processors
	}
	width := backend.Width(processors)
	if workers { // they take time to start
		width = (width + 1) / 2
	}
	return int(max(1, min(int64(width), free/perRun)))
}
