//go:build unix && !linux

package osproc

import "syscall"

// Attributes put a child in a process group of its own: Ctrl-C at the terminal then
// reaches only us. This system has no signal on the death of a parent, so
// children end when they are killed; after kill -9 of the harness they stay.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
