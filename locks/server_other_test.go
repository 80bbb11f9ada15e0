//go:build !linux

package locks_test

import "os/exec"

// dieWithParent is a promise of Linux only; elsewhere the test's cleanup kills cmd.
func dieWithParent(*exec.Cmd) {}
