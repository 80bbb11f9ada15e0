package oracle

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// shrink returns a smaller history of which holds still says true: fewer calls, then plainer ones.
func shrink(h history, holds func(history) bool) history {
	for smaller := true; smaller; {
		smaller = false
		for i := len(h) - 1; i >= 0; i-- {
			if i < len(h) {
				if less := without(h, i); len(less) > 0 && holds(less) {
					h, smaller = less, true
				}
			}
		}
	}
	for i := range h {
		for _, plainer := range plain() {
			g := slices.Clone(h)
			plainer(&g[i])
			if g[i] != h[i] && sane(g) && holds(g) {
				h = g
			}
		}
	}
	for _, grain := range []time.Duration{100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond} {
		if g := rounded(h, grain); sane(g) && holds(g) {
			return g
		}
	}
	return h
}

// without is h without a call. With an acquire go the other calls of its attempt.
func without(h history, i int) history {
	gone := h[i]
	return slices.DeleteFunc(slices.Clone(h), func(c call) bool {
		return c == gone || gone.f == histories.Acquire && c.f != histories.Count && c.f != histories.Crash && c.who == gone.who && c.attempt == gone.attempt
	})
}

// plain are the ways to make a call plainer.
func plain() []func(*call) {
	return []func(*call){
		func(c *call) { c.told = 0 },
		func(c *call) { c.token = 0 },
		func(c *call) { c.ret = c.inv + time.Millisecond },
		func(c *call) { c.inv = c.ret - time.Millisecond },
		func(c *call) { c.ttl = min(max(c.ttl, 10*time.Second), c.ttl<<10) },
	}
}

func rounded(h history, grain time.Duration) history {
	g := slices.Clone(h)
	for i := range g {
		g[i].inv = g[i].inv.Truncate(grain)
		g[i].ret = g[i].ret.Truncate(grain)
		g[i].told = g[i].told.Truncate(grain)
	}
	return g
}

// sane reports whether times of h are all different, so that nothing hangs on their order, and that it
// is a history at all.
func sane(h history) bool {
	var times []time.Duration
	for _, c := range h {
		if times = append(times, c.inv); c.f != histories.Crash {
			times = append(times, c.ret)
		}
		if c.inv < 0 || c.f != histories.Crash && c.ret <= c.inv {
			return false
		}
	}
	slices.Sort(times)
	return len(slices.Compact(times)) == len(times) && histories.Validate(h.events()) == nil
}
