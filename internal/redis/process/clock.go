package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

const (
	// clockFile, in a server's directory, is what libfaketime reads.
	clockFile = "faketime"
	// probeLimit bounds the trial of libfaketime: one that hangs hangs for ever.
	probeLimit = 10 * time.Second
)

// Clocks says that clocks are set by libfaketime, or why they cannot be: the cluster was
// not asked to, or the library is not installed.
func (c *Cluster) Clocks() (how string, err error) {
	switch {
	case c == nil:
		return "by libfaketime where it is installed", nil
	case c.noClocks != nil:
		return "", c.noClocks
	}
	return "by libfaketime", nil
}

// SetClock sets the wall clock of node by libfaketime, from its next look at the clock on.
func (c *Cluster) SetClock(ctx context.Context, name string, offset time.Duration, rate float64) error {
	return c.Change(ctx, "set the clock of", name, func(_ context.Context, s *server) error {
		if c.noClocks != nil {
			return c.noClocks
		}
		if err := cluster.CheckRate(rate); err != nil {
			return err
		}
		r := s.current()
		if r == nil {
			return node.NotRunning(name)
		}
		return writeClock(s.dir, r.clock.Setting(time.Now(), offset, rate))
	})
}

// writeClock puts a setting where the library of the server in dir reads it, as a whole or
// not at all.
func writeClock(dir, setting string) error {
	path := filepath.Join(dir, clockFile)
	if err := os.WriteFile(path+".new", []byte(setting), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// startClock learns when libfaketime began to count in a server that has just been started,
// and sets the clock right. It does nothing for a server without the library.
func (r *run) startClock(ctx context.Context, prog program, dir string) error {
	if prog.faketime == "" {
		return nil
	}
	removeShared(r.process.Pid) // by now the library has them open and needs no names
	clock, err := node.NewFaketime(ctx, r.addr())
	if err != nil {
		return err
	}
	r.clock = clock
	return writeClock(dir, clock.Setting(time.Now(), 0, 1))
}

// removeShared removes what libfaketime makes for a process of ours, and leaves behind if
// the process is killed.
func removeShared(pid int) {
	for _, name := range []string{"faketime_shm_", "sem.faketime_sem_"} {
		_ = os.Remove(filepath.Join("/dev/shm", name+strconv.Itoa(pid))) // most often it is gone
	}
}

// findFaketime returns the path of a libfaketime that prog runs under.
func findFaketime(ctx context.Context, prog program) (library string, err error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("libfaketime is used on Linux only")
	}
	var found []string
	for _, dir := range []string{"/usr/lib/*/faketime", "/usr/lib64/faketime", "/usr/lib/faketime", "/usr/local/lib/faketime"} {
		paths, err := filepath.Glob(filepath.Join(dir, "libfaketimeMT.so.1"))
		if err != nil {
			return "", err
		}
		found = append(found, paths...)
	}
	err = errors.New("libfaketime is not installed (Debian, Ubuntu: apt-get install libfaketime)")
	for _, path := range slices.Compact(found) {
		if err = tryFaketime(ctx, prog, path); err == nil || ctx.Err() != nil {
			return path, err
		}
	}
	return "", err
}

// tryFaketime loads a library into prog and has it start as far as it can without a port, where it ends by itself. That it says
// its version proves too little: Redis 8.0 of Debian 13 does, and its allocator crashes a moment later.
func tryFaketime(ctx context.Context, prog program, library string) error {
	trying, cancel := context.WithTimeoutCause(ctx, probeLimit, fmt.Errorf("it hangs, for %v", probeLimit))
	defer cancel()
	cmd := exec.CommandContext(trying, prog.path, "--port", "0", "--save", "")
	cmd.Env = append(osproc.Environment(), node.FaketimeEnv(library, os.DevNull)...)
	cmd.WaitDelay = drain
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		removeShared(cmd.Process.Pid)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case trying.Err() != nil:
		err = context.Cause(trying)
	case strings.Contains(string(out), "cannot be preloaded"):
		err = errors.New("it is not for this machine")
	case cmd.ProcessState != nil && cmd.ProcessState.Exited():
		return nil
	}
	return fmt.Errorf("%s under %s: %w, output %q", prog.path, library, err, shortened(string(out)))
}
