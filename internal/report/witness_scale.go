package report

import (
	"math/bits"
	"slices"
	"time"
)

// scale places instants on columns: in order, apart where there is room, and a longer wait
// farther apart than a short one, though by no means as much as it is longer.
type scale struct {
	instants []instant
	columns  []int
	events   map[int]int // columns
	width    int
}

// newScale places sorted instants on width columns.
func newScale(instants []instant, width int) scale {
	s := scale{instants: instants, columns: make([]int, len(instants)), events: make(map[int]int, len(instants)), width: width}
	gaps := len(instants) - 1
	if gaps < 1 {
		for _, i := range instants {
			s.events[i.event] = 0
		}
		return s
	}
	base := min((width-1)/gaps, 3)
	rest, total, sum := width-1-base*gaps, 0, 0
	for n := 1; n <= gaps; n++ {
		total += stretch(instants[n].at - instants[n-1].at)
	}
	for n, i := range instants {
		if n > 0 {
			sum += stretch(i.at - instants[n-1].at)
			s.columns[n] = base*n + rest*sum/total
		}
		if i.event >= 0 {
			s.events[i.event] = s.columns[n]
		}
	}
	return s
}

// stretch is how much room a wait deserves, at least 1.
func stretch(gap time.Duration) int {
	return 1 + bits.Len64(uint64(max(gap, 0)/(2*time.Millisecond)))
}

// event is the column of an event, or of the last instant before it.
func (s scale) event(index int, at time.Duration) int {
	if c, ok := s.events[index]; ok {
		return c
	}
	return s.time(at)
}

// time is the column of the last instant that is not after at.
func (s scale) time(at time.Duration) int {
	n, found := slices.BinarySearchFunc(s.instants, at, func(i instant, at time.Duration) int { return int(i.at - at) })
	if !found {
		n--
	}
	if n < 0 {
		return 0
	}
	return s.columns[n]
}
