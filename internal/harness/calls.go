package harness

import (
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/player"
)

// Call is a client's call by the steps of a script. The zero Client and N stand for the end of the steps.
type Call struct {
	Client string
	N      int           // from 1 on
	At     time.Duration // when it began
	End    time.Duration // 0: it did not end
}

// callLog keeps when calls begin and end.
type callLog struct {
	on   bool
	mu   sync.Mutex
	kept []Call
}

// watch keeps the calls on s.
func (l *callLog) watch(s *player.Stage, now func() time.Duration) {
	if !l.on {
		return
	}
	s.Called = func(client string, n int) func() {
		at := now()
		l.mu.Lock()
		defer l.mu.Unlock()
		i := len(l.kept)
		l.kept = append(l.kept, Call{Client: client, N: n, At: at})
		return func() {
			end := now()
			l.mu.Lock()
			defer l.mu.Unlock()
			l.kept[i].End = end
		}
	}
}

// all are the calls until now: one that hangs may yet end.
func (l *callLog) all() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.kept)
}
