//go:build !unix

package osproc

import "syscall"

// Attributes are the defaults: this system knows neither process groups nor a signal
// on the death of a parent. Children end when they are killed.
func Attributes() *syscall.SysProcAttr { return nil }
