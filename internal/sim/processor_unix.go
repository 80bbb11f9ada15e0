//go:build unix

package sim

import (
	"syscall"
	"time"
)

// processorTime is for how long this process has had a processor.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for an invalid argument alone
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
