package osproc

import "syscall"

// Attributes make a child die with us, even by kill -9, and put it in a process
// group of its own: Ctrl-C at the terminal then reaches only us, and the children
// live until they are torn down in order.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
