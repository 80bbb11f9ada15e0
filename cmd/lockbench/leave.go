package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/harness"
)

const (
	// aTick is how often a program that was interrupted is looked at.
	aTick = 50 * time.Millisecond
	// lastTicks are how many it has to end by itself, together less than two seconds.
	lastTicks = 36
	// containerTicks are how many it has while it takes containers down, which is the engine's
	// work: none of them should be left behind for want of time.
	containerTicks = 30 * int64(time.Second/aTick)
)

// parting is the end of a program that was interrupted.
type parting struct {
	more atomic.Int64 // ticks beyond lastTicks
}

type partingKey struct{}

// expectContainers gives the program more time to end if it runs containers.
func expectContainers(ctx context.Context, backend harness.Backend) {
	if end, ok := ctx.Value(partingKey{}).(*parting); ok && backend.Containers {
		end.more.Store(containerTicks)
	}
}

// leave ends a program that has not ended by itself in time. A tick that comes late does not
// count: then the machine gave the program no turn in which it could have ended.
func (p *parting) leave(tick <-chan time.Time, stderr io.Writer, exit func(code int)) {
	before := <-tick
	for n := int64(1); n < lastTicks+p.more.Load(); {
		at := <-tick
		if at.Sub(before) < 2*aTick {
			n++
		}
		before = at
	}
	fmt.Fprintln(stderr, "lockbench: interrupted, and something did not end in time; what it may have left behind is removed by: lockbench clean")
	exit(exitHarness)
}
