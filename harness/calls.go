package harness

import (
	"sync"
	"time"

	"github.com/lockbench/lockbench/workloads"
)

// Call is the begin of a client's call by the steps of a script. The zero Client and N stand for the end of the steps.
type Call struct {
	Client string
	N      int // from 1 on
	At     time.Duration
}

// callLog keeps when calls begin.
type callLog struct {
	on   bool
	mu   sync.Mutex
	kept []Call
}

// watch keeps the calls on s.
func (l *callLog) watch(s *workloads.Stage, now func() time.Duration) {
	if !l.on {
		return
	}
	s.Called = func(client string, n int) {
		at := now()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kept = append(l.kept, Call{client, n, at})
	}
}
