package cluster

import (
	"context"
	"fmt"
	"strings"
)

// DeathWatcher is a deployment that notices when a server ends although nobody of the run has
// ended it.
type DeathWatcher interface {
	// Died is closed once such a death has been noticed.
	Died() <-chan struct{}
	// Death looks at every server, and returns the first such death as a *DeathError, or nil.
	// Any other error says that it could not look. Call it before Close.
	Death(ctx context.Context) error
}

// DeathError is a server that ended although nobody of the run had ended it.
type DeathError struct {
	Node string
	How  string // it ended, as far as is known
	Log  string // the last lines that it printed; empty if they cannot be had
}

func (e *DeathError) Error() string {
	text := fmt.Sprintf("server %s ended by itself (%s): no fault of the run did that, so that nothing can be said of the lock; play it again", e.Node, e.How)
	if e.Log == "" {
		return text
	}
	return text + "\nThe last lines of its log:\n  " + strings.Join(lastLines(e.Log), "\n  ")
}

// lastLines are at most five lines of a log.
func lastLines(log string) []string {
	const most = 5
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return lines[max(0, len(lines)-most):]
}
