package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// A lot is a grant as a task that keeps a key busy: it begins from first to last, and lasts for long at least.
type lot struct {
	hold              *histories.Hold
	first, last, long time.Duration
}

// chained returns grants of which any two can have come one after the other, but not all of them: their
// leases take more time than there is from the first invocation to the last end. None of them can be spared. It takes
// grants that share with nobody and were not extended.
func chained(s *stretch) []lot {
	lots := lotsOf(s)
	var free time.Duration // if each begins as early as it can, in order of their grants
	fits := true
	for _, l := range lots {
		free = max(free, l.first)
		fits = fits && free <= l.last
		free = plus(free, l.long)
	}
	if fits {
		return nil
	}
	lots = overload(lots)
	for i := len(lots) - 1; i >= 0; i = min(i, len(lots)) - 1 {
		if fewer := overload(slices.Delete(slices.Clone(lots), i, i+1)); fewer != nil {
			lots = fewer
		}
	}
	return lots
}

// century is longer than any history, and short enough for sums.
const century = 100 * 365 * 24 * time.Hour

// lotsOf are the grants of a stretch in order of their returns.
func lotsOf(s *stretch) []lot {
	var lots []lot
	for _, h := range s.holds {
		if h.Mode == histories.Exclusive && h.Outcome == histories.OK && len(h.Extends)+len(h.Unknown) == 0 {
			long := min(sure(0, h.TTL), century)
			if stop, _ := givenUp(h); stop != never {
				long = min(long, s.timeOf(stop)-h.Returned.Time)
			}
			lots = append(lots, lot{h, h.Invoked.Time, h.Returned.Time, max(0, long)})
		}
	}
	slices.SortFunc(lots, func(a, b lot) int { return a.hold.Returned.Event - b.hold.Returned.Event })
	return lots
}

// overload returns lots for which there is not the time, nil if there are none. It adds one after the other, in
// order of their latest ends, and asks each time when what was added can be over at the earliest (Vilím's
// overload check): of those that begin at some time or later, that is then and the sum of all.
func overload(lots []lot) []lot {
	byFirst := slices.SortedStableFunc(slices.Values(lots), func(a, b lot) int { return cmp.Compare(a.first, b.first) })
	order := make([]int, len(lots)) // places in byFirst
	for i := range order {
		order[i] = i
	}
	latest := func(i int) time.Duration { return plus(byFirst[i].last, byFirst[i].long) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(latest(a), latest(b)) })
	size := 1
	for size < len(lots) {
		size *= 2
	}
	type node struct{ sum, over time.Duration } // of a part of byFirst: all that was added, and when it can be over
	tree := make([]node, 2*size)
	for n, i := range order {
		at := size + i
		tree[at] = node{byFirst[i].long, plus(byFirst[i].first, byFirst[i].long)}
		for at /= 2; at > 0; at /= 2 {
			l, r := tree[2*at], tree[2*at+1]
			tree[at] = node{plus(l.sum, r.sum), max(plus(l.over, r.sum), r.over)}
		}
		if tree[1].over > latest(i) {
			var found []lot
			for _, j := range order[:n+1] {
				found = append(found, byFirst[j])
			}
			return found
		}
	}
	return nil
}

// tellChain is the conflict of grants that cannot have come one after the other.
func (s *stretch) tellChain(lots []lot) *conflict {
	slices.SortFunc(lots, func(a, b lot) int { return cmp.Compare(a.last, b.last) })
	c := &conflict{}
	var names []string
	first, last, leases := lots[0].first, lots[len(lots)-1].last, time.Duration(0)
	for _, l := range lots {
		c.witness, names = append(c.witness, l.hold.Returned.Event), append(names, histories.WorkerName(l.hold.Worker))
		first, leases = min(first, l.first), plus(leases, l.long)
	}
	c.story = fmt.Sprintf("%s were granted %s between %s and %s. Their leases certainly ran for %s together, and for as long as they did not run one after the other there was not the time: two of them ran at once.",
		strings.Join(names, ", "), s.key, words.Seconds(first), words.Seconds(last), words.Seconds(leases))
	return c
}
