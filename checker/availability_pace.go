package checker

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A pace is how often and how steadily locks were granted, of all keys together.
type pace struct {
	grants      int
	start, last time.Duration // of the run: of a foreign history it may be since 1970
	longest     time.Duration // without a grant
	from        time.Duration // since when
	lease       time.Duration // the longest of those that were granted
	windows     []int         // grants in each window as long as that; nil if there are none to tell of
	calm        rank          // the end of the last fault, if all ended and there was one
	recovered   bool          // a lock was asked for after that, and granted
	after       time.Duration // how long after the last fault
}

// mostWindows is how many windows are told of. Of more nobody asks for the least and the most.
const mostWindows = 100_000

func paceOf(rec *record) pace {
	p := pace{start: rec.Times[0], last: rec.Times[len(rec.Times)-1]}
	calm, sick := lastHealed(rec.Faults)
	if sick == nil {
		p.calm = calm
	}
	before := p.start
	for o := range granted(rec.Returns) {
		p.grants++
		if gap := o.Complete.Time - before; gap > p.longest {
			p.longest, p.from = gap, before
		}
		before, p.lease = o.Complete.Time, max(p.lease, o.Invoke.TTL)
		if p.calm > 0 && !p.recovered && at(o.Invoke.Index) > p.calm {
			p.recovered, p.after = true, o.Complete.Time-rec.timeOf(p.calm)
		}
	}
	p.count(rec)
	return p
}

// granted are the acquires among calls that were granted.
func granted(calls []*histories.Op) iter.Seq[*histories.Op] {
	return func(yield func(*histories.Op) bool) {
		for _, o := range calls {
			if o.Invoke.F == histories.Acquire && o.Outcome() == histories.OK && !yield(o) {
				return
			}
		}
	}
}

// count counts the grants in each window, if there are several. A last one that is not whole does not
// count.
func (p *pace) count(rec *record) {
	whole := p.last - p.start
	if p.lease <= 0 || whole/p.lease < 2 || whole/p.lease > mostWindows {
		return
	}
	p.windows = make([]int, whole/p.lease)
	for o := range granted(rec.Returns) {
		if i := int((o.Complete.Time - p.start) / p.lease); i < len(p.windows) {
			p.windows[i]++
		}
	}
}

// tell tells how often and how steadily locks were granted.
func (p *pace) tell() string {
	if p.grants == 0 {
		return "Nobody was granted a lock."
	}
	windows := ""
	if p.windows != nil {
		windows = fmt.Sprintf(", %d to %d in each %s", slices.Min(p.windows), slices.Max(p.windows), seconds(p.lease))
	}
	text := fmt.Sprintf("%s in %s%s; the longest time without one was %s, from %s on.",
		count(p.grants, "acquisition"), seconds(p.last-p.start), windows, seconds(p.longest), seconds(p.from))
	switch {
	case p.calm == 0:
		return text
	case p.recovered:
		return paragraph(text, fmt.Sprintf("The first after the last fault came %s after it.", seconds(p.after)))
	}
	return paragraph(text, "None came after the last fault.")
}
