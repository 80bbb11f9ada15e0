package oracle

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
)

// forever is the end of a belief that nothing is known to end.
const forever time.Duration = math.MaxInt64

// beliefs are what holders believe: nobody is granted the lock while another believes that it
// has it. A belief begins with the grant and ends when the first release of the attempt is
// invoked, at a crash of its client, or, by the reading of leases, at the deadline that was last
// told. The lock is taken at its word: of an attempt of unknown outcome, an accepted extend says
// that it had the lock then, and an accepted release that it had it until then.
//
// Whom an extend tells a new deadline after the old one believes again; that is left open. So it is
// when a grant of unknown outcome had begun that is shown by an extend alone, with a deadline that had passed.
type beliefs struct {
	grants []grant
	shows  []show
}

// A grant is an acquire that was granted, by some time at the latest.
type grant struct {
	call
	by, end time.Duration // end is that of the belief
}

// A show is an accepted release of an acquire of unknown outcome, and ends the belief in that.
type show struct {
	call
	of int // the grant
}

// excludes rules on mutual exclusion or, by leases, on lease exclusion: it must fail if no order
// and instants keep it, and must not if some do.
func (h history) excludes(leases bool) orders.Ruling {
	var b beliefs
	open := false // something is shown after the belief in it had ended, or of one of several acquires
	for _, c := range h {
		if c.f != histories.Acquire {
			continue
		}
		shows := h.accepted(c)
		g := grant{call: c, by: c.ret, end: h.believed(c, shows)}
		if leases {
			deadline, steady := c.deadline(shows)
			if !steady {
				return orders.Free
			}
			g.end = min(g.end, deadline)
		}
		switch {
		case c.outcome == histories.Fail, c.unknown() && len(shows) == 0:
			continue
		case c.unknown() && h.enteredBesides(c):
			open = true
			continue
		case c.unknown():
			g.by = forever
			for _, s := range shows {
				g.by = min(g.by, s.ret)
				open = open || s.ret > g.end
				if s.f == histories.Release {
					b.shows = append(b.shows, show{s, len(b.grants)})
				}
			}
		}
		b.grants = append(b.grants, g)
	}
	switch {
	case !b.kept(0, 0, 0, nil):
		return orders.MustFail
	case open:
		return orders.Free
	}
	return orders.MustNot
}

// kept reports whether the grants and shows that were not placed can come after those that were, the
// last of them at now, when some grants are believed. Each is best placed as early as it can be.
func (b *beliefs) kept(granted, shown uint, now time.Duration, believed []int) bool {
	if granted == 1<<len(b.grants)-1 && shown == 1<<len(b.shows)-1 {
		return true
	}
	for i, g := range b.grants {
		if granted&(1<<i) != 0 {
			continue
		}
		at := max(now, g.inv)
		rest := []int{i}
		for _, other := range believed {
			if o := &b.grants[other]; o.shares(g.call) {
				rest = append(rest, other)
			} else {
				at = max(at, o.end)
			}
		}
		if at != forever && at <= g.by && b.kept(granted|1<<i, shown, at, rest) {
			return true
		}
	}
	for i, s := range b.shows {
		if at := max(now, s.inv); shown&(1<<i) == 0 && granted&(1<<s.of) != 0 && at <= s.ret {
			rest := slices.DeleteFunc(slices.Clone(believed), func(g int) bool { return g == s.of })
			if b.kept(granted, shown|1<<i, at, rest) {
				return true
			}
		}
	}
	return false
}

// shares reports whether two acquires may have the lock at once.
func (c call) shares(o call) bool {
	return c.mode == o.mode && (c.mode == histories.Shared || c.mode == histories.Reentrant && c.who == o.who)
}

// accepted are the accepted releases and extends of an acquire.
func (h history) accepted(acquire call) history {
	return slices.DeleteFunc(slices.Clone(h), func(c call) bool {
		return !c.isOf(acquire) || c.outcome != histories.OK || c.open
	})
}

// isOf reports whether c is a release or an extend of an acquire.
func (c call) isOf(acquire call) bool {
	return c.who == acquire.who && c.attempt == acquire.attempt && (c.f == histories.Release || c.f == histories.Extend)
}

// enteredBesides reports whether a re-entrant client made another acquire that was not refused.
func (h history) enteredBesides(acquire call) bool {
	return acquire.mode == histories.Reentrant && slices.ContainsFunc(h, func(c call) bool {
		return c.f == histories.Acquire && c.who == acquire.who && c.attempt != acquire.attempt && c.outcome != histories.Fail
	})
}

// believed is when the belief in an acquire ends, whatever deadline was told.
func (h history) believed(acquire call, shows history) time.Duration {
	extended := slices.ContainsFunc(shows, func(c call) bool { return c.f == histories.Extend })
	end := forever
	for _, c := range h {
		switch {
		case c.f == histories.Crash && c.who == acquire.who && c.inv >= acquire.inv:
			end = min(end, c.inv)
		case c.f == histories.Release && c.isOf(acquire) && (!acquire.unknown() || len(shows) == 0 || extended || h.enteredBesides(acquire)):
			end = min(end, c.inv) // else it has the lock until the release that shows it
		}
	}
	return end
}

// deadline is when an acquire's belief ends by the deadlines that were told, and false if that is
// left open.
func (c call) deadline(shows history) (time.Duration, bool) {
	told := func(c call) time.Duration {
		if c.told == 0 {
			return forever
		}
		return c.told
	}
	extends := slices.DeleteFunc(slices.Clone(shows), func(c call) bool { return c.f != histories.Extend })
	slices.SortFunc(extends, func(a, b call) int { return cmp.Compare(a.ret, b.ret) })
	end := forever
	if c.outcome == histories.OK {
		end = told(c)
	}
	for i, e := range extends {
		switch first := i == 0 && c.outcome != histories.OK; {
		case e.ret >= end && told(e) > e.ret, first && told(e) <= e.ret:
			return 0, false
		case e.ret < end:
			end = max(e.ret, told(e))
		}
	}
	return end, true
}
