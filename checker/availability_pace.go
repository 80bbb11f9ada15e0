package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// A pacer is how often and how steadily locks were granted, of all keys together, as it happened.
type pacer struct {
	begun   bool
	start   time.Duration // of the run: of a foreign history it may be since 1970
	grants  int
	latest  time.Duration // grant
	longest time.Duration // without a grant
	from    time.Duration // since when
	lease   time.Duration // the longest of those that were granted

	times   []time.Duration // of grants, as long as there are few
	windows []int           // else: grants in each window as long as the lease, counted from the start; nil if that is not known

	calm      histories.Instant // the last end of a fault
	recovered bool              // a lock was asked for after that, and granted
	after     time.Duration     // how long after it
}

// Bounds of what is told of the windows.
const (
	mostWindows = 100_000 // Of more nobody asks for the least and the most.
	mostTimes   = 1 << 16
)

func newPacer() *pacer { return &pacer{} }

// note takes the next event.
func (p *pacer) note(now time.Duration) {
	if !p.begun {
		p.begun, p.start, p.latest = true, now, now
	}
}

// healed takes the end of a fault.
func (p *pacer) healed(now histories.Instant) { p.calm, p.recovered = now, false }

// granted takes an acquire that was granted.
func (p *pacer) granted(o *histories.Op) {
	now := o.Complete.Time
	p.grants++
	if gap := now - p.latest; gap > p.longest {
		p.longest, p.from = gap, p.latest
	}
	p.latest = now
	if longer := o.Invoke.TTL > p.lease; longer {
		p.lease, p.windows = o.Invoke.TTL, nil
	}
	if p.calm.Event > 0 && !p.recovered && o.Invoke.Index > p.calm.Event {
		p.recovered, p.after = true, now-p.calm.Time
	}
	switch {
	case p.grants <= mostTimes:
		p.times = append(p.times, now)
		return
	case p.grants == mostTimes+1:
		p.windows = p.counted()
		p.times = nil
	}
	if p.windows != nil {
		p.windows = p.count(p.windows, now)
	}
}

// counted are the windows of the times so far, or nil if there is no lease.
func (p *pacer) counted() []int {
	windows := []int{}
	for _, t := range p.times {
		windows = p.count(windows, t)
	}
	return windows
}

// count counts a grant; nil if there would be too many windows.
func (p *pacer) count(windows []int, now time.Duration) []int {
	if p.lease <= 0 || windows == nil {
		return nil
	}
	i := (now - p.start) / p.lease
	if i > mostWindows {
		return nil
	}
	for len(windows) <= int(i) {
		windows = append(windows, 0)
	}
	windows[i]++
	return windows
}

// whole are the windows of a run until its end, if there are several. A last one that is not whole does
// not count.
func (p *pacer) whole(end time.Duration) []int {
	windows := p.windows
	if p.grants <= mostTimes {
		windows = p.counted()
	}
	if windows == nil || p.lease <= 0 {
		return nil
	}
	n := int((end - p.start) / p.lease)
	if n < 2 || n > mostWindows {
		return nil
	}
	for len(windows) < n {
		windows = append(windows, 0)
	}
	return windows[:n]
}

// tell tells how often and how steadily locks were granted until the end of a run. healthy says that
// all faults ended.
func (p *pacer) tell(end time.Duration, healthy bool) string {
	if p.grants == 0 {
		return "Nobody was granted a lock."
	}
	windows := ""
	if all := p.whole(end); all != nil {
		windows = fmt.Sprintf(", %d to %d in each %s", slices.Min(all), slices.Max(all), words.Seconds(p.lease))
	}
	text := fmt.Sprintf("%s in %s%s; the longest time without one was %s, from %s on.",
		words.Count(p.grants, "acquisition"), words.Seconds(end-p.start), windows, words.Seconds(p.longest), words.Seconds(p.from))
	switch {
	case !healthy || p.calm.Event == 0:
		return text
	case p.recovered:
		return paragraph(text, fmt.Sprintf("The first after the last fault came %s after it.", words.Seconds(p.after)))
	}
	return paragraph(text, "None came after the last fault.")
}
