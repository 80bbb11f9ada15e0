package process

import (
	"os/exec"
	"runtime"
)

// launcher starts every process of a cluster from one operating system thread.
//
// On Linux the kernel kills a child when the thread that forked it ends (see
// orphans_linux.go). The Go runtime ends threads as it likes, so this one is kept
// locked for as long as the cluster lives.
type launcher struct {
	work    chan func()
	stopped chan struct{}
}

func newLauncher() *launcher {
	l := &launcher{work: make(chan func()), stopped: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer close(l.stopped)
		defer runtime.UnlockOSThread()
		for f := range l.work {
			f()
		}
	}()
	return l
}

// start starts cmd. It must not be called after stop.
func (l *launcher) start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	l.work <- func() { result <- cmd.Start() }
	return <-result
}

// stop gives the thread back. All processes must have been waited for.
func (l *launcher) stop() {
	close(l.work)
	<-l.stopped
}
