package osproc

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v3/mem"
)

// FreeMemory returns how many bytes of memory can be had without swapping: what the machine
// has left, or, if that is less, what the control group of this process has (Linux, cgroup v2).
func FreeMemory(ctx context.Context) (int64, error) {
	all, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0, err
	}
	free := int64(all.Available)
	limit, limited := readBytes("/sys/fs/cgroup/memory.max")
	used, known := readBytes("/sys/fs/cgroup/memory.current")
	if limited && known {
		free = min(free, max(0, limit-used))
	}
	return free, nil
}

// readBytes reads a file that holds one number. "max", which is no limit, is none.
func readBytes(file string) (int64, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}
