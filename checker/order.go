package checker

import (
	"math"
	"slices"
	"time"
)

// rank is a place in the order of a history. The i-th event has rank 2i+1, and
// 2i is the gap before it.
//
// The judges compare ranks and never times. Times have ties, and the order of
// the events is authoritative: the recorder numbered them one after the other.
// Only deadlines are known by their time alone. A deadline takes the gap before
// the first event whose time is not earlier, because at the deadline itself the
// lease is over. Odd ranks belong to one event each, so a grant and the end of
// another belief never share a rank, and no comparison depends on whether an
// interval is open or closed.
type rank int64

// never is later than every event.
const never rank = math.MaxInt64

// at is the rank of the i-th event.
func at(i int) rank { return rank(2*i + 1) }

// gapAt is the rank of a deadline at time t. The events' times are in order.
func gapAt(times []time.Duration, t time.Duration) rank {
	i, _ := slices.BinarySearch(times, t)
	return rank(2 * i)
}
