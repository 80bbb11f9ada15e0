package plot

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/report"
)

// A Quantile tells how long the calls of one kind that ended in one way took, in nanoseconds.
// P50 to P999 are times of the calls at the nearest rank, from an HdrHistogram with three digits,
// and so at most a thousandth too long. Max is exact.
type Quantile struct {
	F       histories.F    `json:"f"`
	Outcome histories.Type `json:"outcome"` // ok, fail or info
	Count   int            `json:"count"`
	Open    int            `json:"open,omitempty"` // of these never returned, and are in no quantile
	P50     time.Duration  `json:"p50"`
	P90     time.Duration  `json:"p90"`
	P99     time.Duration  `json:"p99"`
	P999    time.Duration  `json:"p999"`
	Max     time.Duration  `json:"max"`
}

// Quantiles returns one Quantile of each kind of call and outcome that the run has, the calls
// of the lock first. Faults are no calls.
func Quantiles(r report.Run) []Quantile {
	ops, _ := histories.Pair(r.Events) // of a history that does not pair, as much as does
	type kind struct {
		f       histories.F
		outcome histories.Type
	}
	took := map[kind]*times{}
	for i := range ops {
		o := &ops[i]
		if o.Fault() {
			continue
		}
		k := kind{o.Invoke.F, o.Outcome()}
		if took[k] == nil {
			took[k] = &times{}
		}
		took[k].add(o)
	}
	all := []Quantile{}
	for k, t := range took {
		q := Quantile{F: k.f, Outcome: k.outcome, Count: len(t.all) + t.open, Open: t.open}
		v := t.at(fine, 50, 90, 99, 99.9, 100)
		q.P50, q.P90, q.P99, q.P999, q.Max = v[0], v[1], v[2], v[3], v[4]
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b Quantile) int {
		return cmp.Or(cmp.Compare(rank(a.F), rank(b.F)), cmp.Compare(a.F, b.F), cmp.Compare(order(a.Outcome), order(b.Outcome)))
	})
	return all
}

// rank is the place of a kind of call among all.
func rank(f histories.F) int {
	known := []histories.F{histories.Acquire, histories.Release, histories.Extend, histories.Count, histories.Read, histories.Write, histories.Incr, histories.Draw}
	if i := slices.Index(known, f); i >= 0 {
		return i
	}
	return len(known)
}

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
