package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/language"
)

// A pace is how often something happens.

const (
	fewestForPace = 20 // instants; fewer are drawn one by one
	perWindow     = 10 // instants, on average, at least
	manyPaces     = 6  // lines in one panel
)

// series are the instants at which one thing happened.
type series struct {
	name string
	at   []time.Duration
}

// fewer returns the series with the most instants in their order, and all others as one.
func fewer(all []series, in language.Language) []series {
	if len(all) <= manyPaces {
		return all
	}
	largest := slices.Clone(all)
	slices.SortStableFunc(largest, func(a, b series) int { return cmp.Compare(len(b.at), len(a.at)) })
	least := len(largest[manyPaces-2].at)
	rest := series{name: in.Sayf("%d other nodes", len(all)-manyPaces+1)}
	var kept []series
	room := manyPaces - 1
	for _, s := range all {
		if len(s.at) > least {
			room--
		}
	}
	for _, s := range all {
		switch {
		case len(s.at) > least:
			kept = append(kept, s)
		case len(s.at) == least && room > 0:
			room--
			kept = append(kept, s)
		default:
			rest.at = append(rest.at, s.at...)
		}
	}
	return append(kept, rest)
}

// paces draws how often per second things happened, in windows, or each of them if they
// were few. Colours count from c1.
func (c *canvas) paces(title string, all []series) {
	total := 0
	for _, s := range all {
		total += len(s.at)
	}
	if total < fewestForPace {
		for i, s := range all {
			p := c.panel(s.name, 14)
			var d strings.Builder
			for _, x := range c.distinct(s.at) {
				fmt.Fprintf(&d, "M%d %dV%d", x, p.top, p.bottom)
			}
			c.path(fmt.Sprintf("c%d p50", i+1), d.String())
		}
		return
	}
	n := windows(total * fewestPerWindow / perWindow)
	width := (c.s.to - c.s.from) / float64(n)
	counts := make([][]int, len(all))
	most := 0
	for i, s := range all {
		counts[i] = make([]int, n)
		for _, at := range s.at {
			w := min(c.s.x(at)*n/columns, n-1)
			counts[i][w]++
			most = max(most, counts[i][w])
		}
	}
	p := c.panel(title, 110)
	y := c.scale(p, float64(most)/width, 3)
	for i := range all {
		var d strings.Builder
		for w, k := range counts[i] {
			fmt.Fprintf(&d, "V%dH%d", y(float64(k)/width), (w+1)*columns/n)
		}
		line := strings.Replace(d.String(), "V", "M0 ", 1)
		if len(all) == 1 {
			c.path("c1 area", fmt.Sprintf("M0 %d%sV%dz", p.bottom, d.String(), p.bottom))
			continue
		}
		c.path(fmt.Sprintf("c%d line", i+1), line)
	}
}

// scale marks a panel's y axis from 0 to at least most, and returns where values are.
func (c *canvas) scale(p panel, most float64, wanted int) func(float64) int {
	if most <= 0 {
		most = 1
	}
	step := nice(most / float64(wanted))
	top := step
	for top < most {
		top += step
	}
	at, texts := ticks(0, top, wanted)
	for i, t := range at {
		c.mark(p.y(t/top), texts[i])
	}
	return func(v float64) int { return p.y(v / top) }
}

// distinct returns where instants are, in columns, each place once and in order.
func (c *canvas) distinct(at []time.Duration) []int {
	var xs []int
	for _, t := range at {
		xs = append(xs, c.s.x(t))
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}
