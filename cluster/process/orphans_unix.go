//go:build unix && !linux

package process

import "syscall"

// attributes put a child in a process group of its own: Ctrl-C at the terminal then
// reaches only us. This system has no signal on the death of a parent, so servers
// end with Close; after kill -9 of the harness they stay and must be killed by hand.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
