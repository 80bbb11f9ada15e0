package checker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
)

// A divider divides a history into stretches as it comes, and hands on each when all is known of
// it: when the calls have returned that were under way at its end.
type divider struct {
	*record
	summarizer *histories.Summarizer
	emit       func(*stretch)
	slept      func(key string) // the key is forgotten; may be nil
	spared     int

	keys   map[string]*cutter
	recent *cutter   // as large histories have one key
	calls  int       // that are kept
	most   int       // that may be
	idle   []*cutter // of keys that were free, not long ago
	forgot bool      // some keys
}

// newDivider returns a divider of no events that gives the stretches to emit.
func newDivider(opt Options, emit func(*stretch)) *divider {
	d := &divider{record: newRecord(opt), emit: emit, spared: cmp.Or(opt.spared, spared), most: cmp.Or(opt.roomy, roomy), keys: make(map[string]*cutter)}
	d.summarizer = histories.NewSummarizer(histories.Hooks{
		Began: func(o *histories.Op) { d.of(o.Invoke.Key).begin(o) },
		Ended: func(o *histories.Op) {
			if o.Invoke.F == histories.Acquire {
				d.acquired(o)
			}
			d.of(o.Invoke.Key).end(o, instant(&o.Complete))
		},
		Over: func(h *histories.Hold, e *histories.Event) {
			c := d.of(h.Key)
			c.tick(h.Ended)
			if n := len(c.part.singles); n == 0 || c.part.singles[n-1].Index != e.Index {
				c.part.singles = append(c.part.singles, *e)
			}
		},
	})
	return d
}

// acquired takes an acquire that returned.
func (d *divider) acquired(o *histories.Op) {
	d.fair.end(o)
	if o.Complete.Type == histories.OK {
		d.pace.granted(o)
	}
}

// add takes the next event.
func (d *divider) add(e *histories.Event) {
	d.note(e)
	d.summarizer.Add(e)
	switch {
	case e.F == histories.Audit, e.F == histories.Waited:
		c := d.of(e.Key)
		c.freed = nil
		c.tick(instant(e))
		c.part.singles = append(c.part.singles, *e)
	case e.F == histories.Crash && e.Single():
		if o := d.summarizer.Call(e.Process); o != nil {
			d.of(o.Invoke.Key).end(o, instant(e))
		}
	}
	if d.calls > d.most {
		d.sweep()
	}
}

// sweep cuts the keys that are free.
func (d *divider) sweep() {
	for _, c := range d.idle {
		c.idle = false
		if o := c.freed; o != nil && c.quiet(instant(&o.Complete)) {
			c.cut(o, true)
			c.sleep()
		}
	}
	d.idle = nil
	d.most = d.calls + cmp.Or(d.opt.roomy, roomy)
}

// divide returns the stretches of a history, in order of keys. The error is that of
// histories.Validate.
func divide(events []histories.Event, opt Options) ([]*stretch, error) {
	var all []*stretch
	d := newDivider(opt, func(s *stretch) { all = append(all, s) })
	for i := range events {
		d.add(&events[i])
	}
	err := d.finish()
	slices.SortStableFunc(all, func(a, b *stretch) int { return cmp.Compare(a.key, b.key) })
	return all, err
}

// finish takes the end of the history: what is left of it is handed on, in order of keys. The error
// is that of histories.Validate.
func (d *divider) finish() error {
	d.summarizer.Finish()
	for _, key := range sortedKeys(d.keys) {
		c := d.keys[key]
		for _, s := range append(c.closing, c.part) {
			d.ready(s)
		}
	}
	var unfit error
	d.Summary, unfit = d.summarizer.Summary()
	return unfit
}

// of is the cutter of a key.
func (d *divider) of(key string) *cutter {
	if d.recent != nil && d.recent.part.key == key {
		return d.recent
	}
	c := d.keys[key]
	if c == nil {
		key = strings.Clone(key) // what was read with it can go
		c = &cutter{divider: d, part: &stretch{record: d.record, key: key, to: unknown}}
		if d.forgot { // it may have been before
			c.part.number, c.part.from, c.part.lo = 1, d.record.last.Event, d.record.last.Event
		}
		d.keys[key] = c
	}
	d.recent = c
	return c
}

// ready hands on a stretch of which all is known.
func (d *divider) ready(s *stretch) {
	d.complete(s)
	s.search()
	d.emit(s)
}

// complete adds to a stretch what is known by now.
func (d *divider) complete(s *stretch) {
	d.Summary, _ = d.summarizer.Summary()
	s.whole = s.to == unknown
	s.to = min(s.to, d.Events)
	s.holds = notRefused(s.holds)
	s.others, s.clock.last = d.ills.instants, d.record.last
	s.ill = d.lingering(s.of(s.from))
	s.leases = newLeases(s.holds)
}

// notRefused are the holds that were not refused after all.
func notRefused(holds []*histories.Hold) []*histories.Hold {
	return slices.DeleteFunc(holds, func(h *histories.Hold) bool { return h.Outcome == histories.Fail })
}
