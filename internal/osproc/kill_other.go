//go:build !unix

package osproc

import (
	"errors"
	"fmt"
	"os"
)

// KillGroup ends the process: this system knows no process groups. It does not wait. That
// it has ended already is no error.
func KillGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil //nolint:nilerror // there is none of that id
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return nil
}

// InGroup reports whether a process belongs to the process group of leader: here, whether it
// is that process.
func InGroup(pid, leader int) bool { return pid == leader }
