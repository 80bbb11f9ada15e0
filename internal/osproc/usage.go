package osproc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	psutil "github.com/shirou/gopsutil/v3/process"
)

// ErrEnded says that there is no such process any more.
var ErrEnded = errors.New("process has ended")

// Usage is what a process takes of the machine, at one look.
type Usage struct {
	PID      int
	Stopped  bool          // it stands still, as after SIGSTOP
	CPU      time.Duration // since it began, its own and the kernel's for it
	Resident int64         // bytes of memory
	Threads  int
}

// Measure looks at the process of that id. One that has ended is an error that wraps
// ErrEnded, also if nobody has waited for it yet.
func Measure(ctx context.Context, pid int) (Usage, error) {
	u, err := measure(ctx, pid)
	if err != nil {
		return Usage{}, fmt.Errorf("measure process %d: %w", pid, ended(err))
	}
	return u, nil
}

// ended is ErrEnded if err says that there is no such process, and else err. A process that ends while the system is asked about it has a file
// in /proc that can be opened and not be read (ESRCH).
func ended(err error) error {
	for _, gone := range []error{psutil.ErrorProcessNotRunning, fs.ErrNotExist, os.ErrProcessDone, syscall.ESRCH} {
		if errors.Is(err, gone) {
			return ErrEnded
		}
	}
	return err
}

func measure(ctx context.Context, pid int) (Usage, error) {
	p, err := psutil.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return Usage{}, err
	}
	status, err := p.StatusWithContext(ctx)
	if err != nil {
		return Usage{}, err
	}
	if slices.Contains(status, psutil.Zombie) {
		return Usage{}, ErrEnded
	}
	times, err := p.TimesWithContext(ctx)
	if err != nil {
		return Usage{}, err
	}
	memory, err := p.MemoryInfoWithContext(ctx)
	if err != nil {
		return Usage{}, err
	}
	threads, err := p.NumThreadsWithContext(ctx)
	return Usage{
		PID:      pid,
		Stopped:  slices.Contains(status, psutil.Stop),
		CPU:      time.Duration((times.User + times.System) * float64(time.Second)),
		Resident: int64(memory.RSS),
		Threads:  int(threads),
	}, err
}
