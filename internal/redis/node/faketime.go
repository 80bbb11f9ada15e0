package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// Faketime words the settings of libfaketime, a library that is loaded into a server and
// moves its wall clock, by which keys expire. Timers keep the monotonic clock. The library
// reads its setting from a file whenever the server looks at the clock: write a new file
// and rename it.
//
// The library counts a rate from the server's start, and that instant must be known before
// a clock can be set. So a server starts with FaketimeStart, and NewFaketime learns from
// what the clock shows.
type Faketime struct {
	began  time.Time
	within time.Duration // began is as exact as this
}

// startRate is how fast a clock runs until it has been measured: the faster, the more
// exactly.
const startRate = 11

// closeEnough ends the looks at a clock that has just been started. One look over a quiet
// loopback is closer; on a busy machine it takes many.
const closeEnough = 200 * time.Microsecond

// ErrClocksNotAsked says why a cluster cannot set clocks that was not asked to.
var ErrClocksNotAsked = errors.New("its servers were started without libfaketime")

// FaketimeStart is the setting that a server starts with.
func FaketimeStart() string { return faketimeSetting(0, startRate) }

// FaketimeEnv is what the library needs in a server's environment. file holds the setting.
//
// With libfaketime alone Debian's redis-server hangs at its start: its allocator looks at
// the clock before the C library can be asked where the right one is. That library, named
// too, is then ready first.
func FaketimeEnv(library, file string) []string {
	return []string{
		"LD_PRELOAD=" + library + ":libc.so.6",
		"FAKETIME_TIMESTAMP_FILE=" + file,
		"FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1",
	}
}

// NewFaketime asks the server at addr, which was started with FaketimeStart, for its time.
// The clock is wrong until it is set. An error may mean that the library is not at work.
func NewFaketime(ctx context.Context, addr string) (f Faketime, err error) {
	err = Admin(ctx, addr, func(conn *wire.Conn) error {
		f, err = learn(func() (before, after, shown time.Time, err error) {
			before = time.Now()
			reply, err := Do(ctx, conn, "TIME")
			if err != nil {
				return before, after, shown, err
			}
			after = time.Now()
			shown, err = cluster.ReadTime(reply)
			return before, after, shown, err
		})
		return err
	})
	return f, err
}

// learn looks at a clock at startRate until it is known exactly enough when it began to count, a hundred times at most. Where the machine is so busy that
// this takes longer than enough, what is known by then has to do. A look is the time before and after it, and what the clock showed.
func learn(look func() (before, after, shown time.Time, err error)) (f Faketime, err error) {
	const looks, enough = 100, 10 * time.Second
	var began time.Time
	moved := false
	for i := range looks {
		before, after, shown, err := look()
		if err != nil {
			return f, err
		}
		moved = moved || shown.Sub(before) > 2*after.Sub(before)
		if seen := startSeen(before, after, shown); i == 0 {
			f, began = seen, before
		} else {
			f = f.and(seen)
		}
		if moved && (f.within <= closeEnough || after.Sub(began) > enough) {
			return f, nil
		}
	}
	if !moved {
		return f, errors.New("libfaketime was loaded and does not move the clock")
	}
	return f, nil
}

// startSeen is what one look tells: between before and after, a clock at startRate showed
// shown.
func startSeen(before, after, shown time.Time) Faketime {
	start := func(read time.Time) time.Time { return read.Add(-shown.Sub(read) / (startRate - 1)) }
	within := start(after).Sub(start(before)) / 2
	return Faketime{began: start(before).Add(within), within: within}
}

// and is what two looks tell together. Where they contradict each other, as they may while
// the right clock is being corrected, the closer one counts.
func (f Faketime) and(g Faketime) Faketime {
	if g.within < f.within {
		f, g = g, f
	}
	from, to := f.began.Add(-f.within), f.began.Add(f.within)
	if other := g.began.Add(-g.within); other.After(from) {
		from = other
	}
	if other := g.began.Add(g.within); other.Before(to) {
		to = other
	}
	if to.Before(from) {
		return f
	}
	within := to.Sub(from) / 2
	return Faketime{began: from.Add(within), within: within}
}

// Within is how exactly a clock is set to a rate: it may jump by this, times what the rate
// is more or less than 1.
func (f Faketime) Within() time.Duration { return f.within }

// Setting is the content of the file that makes the clock differ from the right time by
// offset, now, and run at rate.
func (f Faketime) Setting(now time.Time, offset time.Duration, rate float64) string {
	age := now.Sub(f.began)
	return faketimeSetting(offset+age-time.Duration(float64(age)*rate), rate)
}

// faketimeSetting always names a rate: without one the last remains.
func faketimeSetting(offset time.Duration, rate float64) string {
	return fmt.Sprintf("%+.9f x%.9f\n", offset.Seconds(), rate)
}
