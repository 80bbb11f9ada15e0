package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/wire"
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
	began time.Time
}

// startRate is how fast a clock runs until it has been measured: the faster, the more
// exactly.
const startRate = 11

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
func NewFaketime(ctx context.Context, addr string) (Faketime, error) {
	const looks = 5
	var f Faketime
	var best time.Duration
	moved := false
	err := Admin(ctx, addr, func(conn *wire.Conn) error {
		for i := range looks {
			before := time.Now()
			reply, err := Do(ctx, conn, "TIME")
			if err != nil {
				return err
			}
			took := time.Since(before)
			shown, err := cluster.ReadTime(reply)
			if err != nil {
				return err
			}
			middle := before.Add(took / 2)
			gained := shown.Sub(middle)
			moved = moved || gained > took
			if i == 0 || took < best {
				best, f.began = took, middle.Add(-gained/(startRate-1))
			}
		}
		return nil
	})
	if err == nil && !moved {
		err = errors.New("libfaketime was loaded and does not move the clock")
	}
	return f, err
}

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
