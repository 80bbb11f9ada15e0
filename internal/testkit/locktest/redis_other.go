//go:build !linux

package locktest

import "os/exec"

// dieWithParent is for Linux: elsewhere a server outlives a test that is killed.
func dieWithParent(*exec.Cmd) {}
