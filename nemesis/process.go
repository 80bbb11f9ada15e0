package nemesis

import "context"

// The kinds that are done to a client's process, where it has one of its own.
const (
	PauseName = "pause"
	CrashName = "crash"
)

// Process is a client's process, if it has one of its own. Each method returns once what it
// does has been observed, and says what was seen.
type Process interface {
	// Suspend stops the process by SIGSTOP, and Resume lets it go on by SIGCONT.
	Suspend(ctx context.Context) (seen string, err error)
	Resume(ctx context.Context) (seen string, err error)
	// Kill ends it by SIGKILL, and Restart starts the client's next one.
	Kill(ctx context.Context) (seen string, err error)
	Restart(ctx context.Context) (seen string, err error)
}
