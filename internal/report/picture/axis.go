package picture

import (
	"math"
	"slices"
	"sort"
	"time"
)

// An axis gives every instant of the picture its place. It is not to scale: each distinct
// instant gets room, and long gaps are drawn as breaks. It is monotone.
type axis struct {
	times  []time.Duration // distinct, in order
	x      []float64       // of each, strictly ascending
	breaks []int           // i: the gap before times[i] is drawn as a break
	width  float64
}

// A demand is that two instants are at least so far apart.
type demand struct {
	from, to time.Duration
	px       float64
}

const (
	margin     = 30 // left of the first instant, and right of all
	wideGap    = 72 // of a break, with its length written in it
	longTime   = 12 // times the usual gap is a break
	mostBreaks = 6
)

// newAxis places the instants.
func newAxis(times []time.Duration, step float64, demands []demand) axis {
	times = slices.Clone(times)
	slices.Sort(times)
	a := axis{times: slices.Compact(times)}
	if len(a.times) == 0 {
		a.times = []time.Duration{0}
	}
	usual, wide := a.usual()
	if n := a.longer(longTime * usual); n <= max(mostBreaks, len(a.times)/8) {
		wide = usual // few are long
	}
	byEnd := make(map[int][]demand, len(demands))
	for _, d := range demands {
		if from, to := a.at(d.from), a.at(d.to); from < to {
			byEnd[to] = append(byEnd[to], d)
		}
	}
	a.x = make([]float64, len(a.times))
	a.x[0] = margin
	for i := 1; i < len(a.times); i++ {
		gap := float64(a.times[i] - a.times[i-1])
		room := step
		if usual > 0 && gap > usual {
			room = step * (1 + math.Min(math.Log2(gap/usual), 3))
		}
		if wide > 0 && gap > longTime*wide {
			a.breaks = append(a.breaks, i)
			room = math.Max(room, wideGap)
		}
		a.x[i] = a.x[i-1] + room
		for _, d := range byEnd[i] {
			a.x[i] = math.Max(a.x[i], a.x[a.at(d.from)]+d.px)
		}
		a.x[i] = math.Round(a.x[i]*10) / 10
	}
	a.width = a.x[len(a.x)-1] + margin
	return a
}

// longer is how many gaps are longer than so many nanoseconds.
func (a axis) longer(than float64) int {
	n := 0
	for i := 1; i < len(a.times); i++ {
		if float64(a.times[i]-a.times[i-1]) > than {
			n++
		}
	}
	return n
}

// stretch makes an axis that is too narrow as wide as a page has room for, within reason.
func (a *axis) stretch(room float64) {
	last := a.x[len(a.x)-1]
	if last <= margin || last >= room {
		return
	}
	by := math.Min((room-margin)/(last-margin), 2)
	for i := range a.x {
		a.x[i] = math.Round((margin+(a.x[i]-margin)*by)*10) / 10
	}
}

// usual is the median distance of neighbours, and one that four of five do not pass.
func (a axis) usual() (median, wide float64) {
	var gaps []float64
	for i := 1; i < len(a.times); i++ {
		gaps = append(gaps, float64(a.times[i]-a.times[i-1]))
	}
	if len(gaps) == 0 {
		return 0, 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2], gaps[len(gaps)*4/5]
}

// at is the number of the last instant that is not after t, or the first one.
func (a axis) at(t time.Duration) int {
	i := sort.Search(len(a.times), func(i int) bool { return a.times[i] > t })
	return max(i-1, 0)
}

// px is the place of an instant of the axis.
func (a axis) px(t time.Duration) float64 { return a.x[a.at(t)] }
