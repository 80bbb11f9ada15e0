//go:build unix

package histories

import (
	"errors"
	"os"
	"syscall"
)

// hold takes a directory for this process, until the file is closed or the process ends. It returns errHeld if somebody has it, and
// another error if the file system does not know whether.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errHeld
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
