package cluster

import "context"

// MemorySimulator is for servers that do not know maxmemory.
type MemorySimulator interface {
	// SimulateFullMemory makes node refuse, or no longer refuse, every command that would
	// need memory, as a server whose memory is full does under noeviction.
	SimulateFullMemory(ctx context.Context, node string, full bool) error
}
