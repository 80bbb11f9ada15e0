package harness

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
)

// Seams are where a test puts a faulty part into the harness, to see that the gate turns red.
// The zero value is the harness as it is.
type Seams struct {
	// Stage may exchange what the clients and the faults work with, before they begin.
	Stage func(*player.Stage)
	// Judge takes the place of checker.Check.
	Judge func(context.Context, []histories.Event, checker.Options) checker.Report
	// Grace is how much later than it promised a worker may answer. 0: as long as is documented.
	Grace time.Duration
}

func (s Seams) judge(ctx context.Context, events []histories.Event, opt checker.Options) checker.Report {
	if s.Judge != nil {
		return s.Judge(ctx, events, opt)
	}
	return checker.Check(ctx, events, opt)
}
