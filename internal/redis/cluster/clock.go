package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// ClockSetter sets the wall clock of one node, by which its keys expire. Every node
// starts with the right clock, also when it is started again.
type ClockSetter interface {
	// Clocks says in a few words how clocks are set, or why they cannot be. Nothing to tell
	// is an empty string. A nil deployment tells of its sort.
	Clocks() (how string, err error)
	// SetClock makes the clock of node differ from the right time by offset, now, and run
	// rate times as fast from now on. Offset 0 and rate 1 make it right. rate is more than 0.
	SetClock(ctx context.Context, node string, offset time.Duration, rate float64) error
}

// CheckRate reports whether a clock can run at rate.
func CheckRate(rate float64) error {
	if rate > 0 && rate <= 1000 {
		return nil
	}
	return fmt.Errorf("want a clock that runs more than 0 and at most 1000 times as fast as it should, got %v", rate)
}

// ReadTime reads the reply to TIME.
func ReadTime(reply wire.Reply) (time.Time, error) {
	if len(reply.Elems) != 2 {
		return time.Time{}, fmt.Errorf("TIME: want seconds and microseconds, got %v", reply)
	}
	seconds, err := strconv.ParseInt(reply.Elems[0].Text(), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("TIME: %w", err)
	}
	micros, err := strconv.ParseInt(reply.Elems[1].Text(), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("TIME: %w", err)
	}
	return time.Unix(seconds, micros*1000), nil
}
