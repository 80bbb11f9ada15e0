package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

func TestNoOrphansAfterSIGKILL(t *testing.T) {
	needServer(t)
	dir := t.TempDir()
	me, err := os.Executable()
	must(t, err)
	child := exec.Command(me)
	child.Env = append(os.Environ(), harnessEnv+"="+dir)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe() // open as long as we live
	must(t, err)
	defer func() { _ = in.Close() }()
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	var ids []int
	for _, field := range strings.Fields(line) {
		pid, err := strconv.Atoi(field)
		must(t, err)
		if dead(t, pid) {
			t.Errorf("server %d is dead before the kill", pid)
		}
		ids = append(ids, pid)
	}
	if len(ids) != 3 {
		t.Fatalf("the harness has servers %v, want 3", ids)
	}

	must(t, child.Process.Kill())
	_ = child.Wait() // "signal: killed"
	deadline, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, pid := range ids {
		if !dies(deadline, t, pid) {
			t.Errorf("server %d outlives its harness", pid)
			must(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}

	// The next run sweeps what the dead one could not remove.
	stale := fmt.Sprintf("%s%d-*", dirPrefix, child.Process.Pid)
	if left, _ := filepath.Glob(filepath.Join(dir, stale)); len(left) != 1 {
		t.Fatalf("the dead harness left %v, want one directory", left)
	}
	c, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{Dir: dir})
	must(t, err)
	must(t, c.Close())
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("not swept: %v", left)
	}
}

// dies waits until the process has ended, and says whether it did before ctx.
func dies(ctx context.Context, t *testing.T, pid int) bool {
	t.Helper()
	for !dead(t, pid) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(poll):
		}
	}
	return true
}
