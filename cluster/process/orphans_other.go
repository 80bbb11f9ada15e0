//go:build !unix

package process

import "syscall"

// attributes are the defaults: this system knows neither process groups nor a signal
// on the death of a parent. Servers end with Close.
func attributes() *syscall.SysProcAttr { return nil }
