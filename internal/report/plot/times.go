package plot

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockbench/lockbench/histories"
)

// order is the place of an outcome among all: ok, fail, info.
func order(t histories.Type) int {
	return slices.Index([]histories.Type{histories.OK, histories.Fail, histories.Info}, t)
}

// How many digits of quantiles are right.
const (
	coarse = 2 // as fine as a picture shows
	fine   = 3
)

// longestTime is what longer times, which only a damaged history has, count as: 31 years.
const longestTime = time.Duration(1e18)

// times are how long calls took.
type times struct {
	all  []time.Duration
	open int // calls that never returned
}

func (t *times) add(o *histories.Op) {
	if !o.Done {
		t.open++
		return
	}
	t.all = append(t.all, took(o))
}

// took is how long a call took. A history whose clock went backwards does not say.
func took(o *histories.Op) time.Duration {
	if o.Complete.Time < o.Invoke.Time {
		return 0
	}
	d := o.Complete.Time - o.Invoke.Time
	if d < 0 || d > longestTime { // too far apart for a number
		return longestTime
	}
	return d
}

// at returns quantiles of the times in percent, all 0 if there are no times.
func (t *times) at(digits int, percents ...float64) []time.Duration {
	values := make([]time.Duration, len(percents))
	if len(t.all) == 0 {
		return values
	}
	longest := slices.Max(t.all)
	h := hdrhistogram.New(1, max(int64(longest), 2), digits)
	for _, d := range t.all {
		_ = h.RecordValue(int64(d)) // none is longer than the longest
	}
	for i, v := range h.ValueAtPercentilesSlice(percents) {
		values[i] = min(time.Duration(v), longest) // a histogram answers the end of a bucket
	}
	return values
}
