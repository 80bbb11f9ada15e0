package osproc

import (
	"os/exec"
	"runtime"
)

// Launcher starts processes that die with us, from one operating system thread.
//
// On Linux the kernel kills a child when the thread that forked it ends (see
// Attributes). The Go runtime ends threads as it likes, so this one is kept locked for
// as long as the Launcher lives.
type Launcher struct {
	work    chan func()
	stopped chan struct{}
}

// NewLauncher returns a Launcher. Stop must be called.
func NewLauncher() *Launcher {
	l := &Launcher{work: make(chan func()), stopped: make(chan struct{})}
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

// Start starts cmd with Attributes, and in Environment unless it has one of its own. It must
// not be called after Stop.
func (l *Launcher) Start(cmd *exec.Cmd) error {
	if cmd.Env == nil {
		cmd.Env = Environment()
	}
	cmd.SysProcAttr = Attributes()
	result := make(chan error, 1)
	l.work <- func() { result <- cmd.Start() }
	return <-result
}

// Stop gives the thread back. All processes must have been waited for.
func (l *Launcher) Stop() {
	close(l.work)
	<-l.stopped
}
