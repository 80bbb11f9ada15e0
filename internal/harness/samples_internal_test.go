package harness

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// TestDeadServersAreNoNews: a server that was dead when it was looked at, and runs again by the time
// that the look ends, needs no note.
func TestDeadServersAreNoNews(t *testing.T) {
	for _, tc := range []struct {
		err   error
		alive bool
		notes int
	}{
		{nil, true, 0},
		{node.NotRunning("master"), true, 0},
		{fmt.Errorf("look at process 7: %w", osproc.ErrEnded), true, 0},
		{context.Canceled, true, 0},
		{errors.New("no right to look"), false, 0},
		{errors.New("no right to look"), true, 1},
	} {
		var s sampler
		s.watch(target{
			name:    "master",
			measure: func(context.Context) (osproc.Usage, error) { return osproc.Usage{}, tc.err },
			alive:   func() bool { return tc.alive },
		})
		for range 2 { // what is said twice is noted once
			s.look(t.Context(), func() time.Duration { return 0 })
		}
		if len(s.notes) != tc.notes {
			t.Errorf("%v, alive %t: noted %q", tc.err, tc.alive, s.notes)
		}
	}
}
