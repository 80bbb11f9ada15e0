//go:build unix

package osproc

import (
	"errors"
	"fmt"
	"syscall"
)

// KillGroup sends SIGKILL to the process and to its whole process group, which Attributes
// have made its own. It does not wait. That they have all ended already is no error.
func KillGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill process group %d: %w", pid, err)
	}
	return nil
}

// InGroup reports whether a process belongs to the process group of leader.
func InGroup(pid, leader int) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && group == leader
}
