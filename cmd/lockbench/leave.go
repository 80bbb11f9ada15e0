package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
)

const (
	// aTick is how often a program that was interrupted is looked at.
	aTick = 50 * time.Millisecond
	// lastTicks are how many it has to end by itself: what was recorded is written to disk meanwhile, and on a busy
	// machine the program gets a small part of each tick.
	lastTicks = 10 * int(time.Second/aTick)
	// serverTicks are how many more it has while it ends servers, and clients, that are processes of their own: a busy
	// machine may give those no turn while it gives the program many.
	serverTicks = 10 * int64(time.Second/aTick)
	// containerTicks are how many more it has while it takes containers down, which is the engine's
	// work: none of them should be left behind for want of time.
	containerTicks = 30 * int64(time.Second/aTick)
)

// parting is the end of a program that was interrupted.
type parting struct {
	more atomic.Int64 // ticks beyond lastTicks
}

type partingKey struct{}

// expectServers gives the program more time to end if it runs servers that are not its own process.
func expectServers(ctx context.Context, backend harness.Backend) {
	end, ok := ctx.Value(partingKey{}).(*parting)
	switch {
	case !ok || backend.Virtual():
	case backend.Containers:
		end.more.Store(containerTicks)
	default:
		end.more.Store(serverTicks)
	}
}

// leave ends a program that has not ended by itself in time. A tick that comes late does not
// count: then the machine gave the program no turn in which it could have ended.
func (p *parting) leave(tick <-chan time.Time, stderr io.Writer, exit func(code int)) {
	before := <-tick
	for n := int64(1); n < int64(lastTicks)+p.more.Load(); {
		at := <-tick
		if at.Sub(before) < 2*aTick {
			n++
		}
		before = at
	}
	fmt.Fprintln(stderr, "lockbench: interrupted, and something did not end in time; what it may have left behind is removed by: lockbench clean")
	exit(exitHarness)
}
