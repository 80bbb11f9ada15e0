//go:build unix

package dockertest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// wait returns when no other test of any process is between wait and its end.
func wait(t testing.TB) {
	t.Helper()
	name := filepath.Join(os.TempDir(), fmt.Sprintf("lockbench-docker-turn-%d", os.Getuid()))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("wait for the turn at %s: %v", name, err)
	}
}
