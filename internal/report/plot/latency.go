package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// A latency plot shows calls by when they began and how long they took.

const (
	fewestPerWindow = 20 // calls that windows have on average
	manyWindows     = 60
	manyPoints      = 1800 // of all panels together
	decade          = 20   // pixels for a power of ten, at least
	lowest          = 80   // pixels for a panel
)

// family are calls that are drawn in one panel.
type family struct {
	name  string
	kinds []histories.F // empty: all others
	calls [3][]*histories.Op
	times [3]times // ok, fail, info
}

func families(calls []*histories.Op) []*family {
	all := []*family{
		{name: "acquire", kinds: []histories.F{histories.Acquire}},
		{name: "release", kinds: []histories.F{histories.Release}},
		{name: "extend", kinds: []histories.F{histories.Extend}},
		{name: "read and write", kinds: []histories.F{histories.Read, histories.Write, histories.Incr, histories.Draw}},
		{name: "verify", kinds: []histories.F{histories.Verify}},
		{name: "count", kinds: []histories.F{histories.Count}},
		{name: "other calls"},
	}
	for _, o := range calls {
		i := slices.IndexFunc(all, func(f *family) bool { return len(f.kinds) == 0 || slices.Contains(f.kinds, o.Invoke.F) })
		n := order(o.Outcome())
		all[i].calls[n] = append(all[i].calls[n], o)
		all[i].times[n].add(o)
	}
	return slices.DeleteFunc(all, func(f *family) bool {
		return len(f.calls[0])+len(f.calls[1])+len(f.calls[2]) == 0
	})
}

func latency(s *subject) report.Plot {
	const name = "latency"
	in := s.Language
	title := in.Say("Time that calls took")
	all := families(s.calls)
	if len(all) == 0 {
		return report.Plot{Name: name, Title: title, Summary: in.Say("No client called anything.")}
	}
	low, high := decades(s, all)
	c := newCanvas(s)
	windowed := slices.ContainsFunc(all, func(f *family) bool { return windows(len(f.times[0].all)) > 0 })
	signs := []sign{{"c1 dot", spot, in.Say("done")}, {"c0", tick, in.Say("refused")}, {"c2 box", spot, in.Say("outcome unknown")}}
	if windowed {
		for _, q := range quantiles {
			signs = append(signs, sign{"c4 " + q.class, dashed, q.class})
		}
	}
	c.legend(signs)
	c.faultRows()
	var told []string
	for _, f := range all {
		p := c.panel(in.Say(f.name), max(lowest, (high-low)*decade))
		for e := low; e <= high; e++ {
			if every := 1 + (high-low)/6; (e-low)%every == 0 {
				c.mark(p.y(float64(e-low)/float64(high-low)), human(time.Duration(math.Pow10(e))))
			}
		}
		y := func(d time.Duration) int {
			return p.y((math.Log10(max(float64(d), 1)) - float64(low)) / float64(high-low))
		}
		most := manyPoints / len(all) / 3
		for n, class := range []string{"c1 dot", "c0", "c2 box"} {
			c.path(class, c.points(f.calls[n], y, [...]string{spot, tick, spot}[n], most))
		}
		c.quantiles(f, y)
		told = append(told, f.tell(in))
	}
	return c.plot(name, title, words.Capital(strings.Join(told, in.Say("; "))+in.Say(".")))
}

// decades are the powers of ten, in nanoseconds, between which all times are, but for those
// below a microsecond, which take no time on a simulated clock and are drawn at the bottom.
func decades(s *subject, all []*family) (low, high int) {
	least, most := math.Inf(1), 0.0
	for _, f := range all {
		for _, calls := range f.calls {
			for _, o := range calls {
				if d := float64(s.lasted(o)); d >= 1e3 {
					least, most = min(least, d), max(most, d)
				}
			}
		}
	}
	if most == 0 {
		return 3, 4
	}
	low = int(math.Floor(math.Log10(least) + 1e-9))
	return low, max(low+1, int(math.Ceil(math.Log10(most)-1e-9)))
}

// lasted is how long a call took, or at least took if it never returned.
func (s *subject) lasted(o *histories.Op) time.Duration {
	if o.Done {
		return took(o)
	}
	return time.Duration(min(max(s.to-o.Invoke.Time.Seconds(), 0), longestTime.Seconds()) * float64(time.Second))
}

// points draws calls as marks. Of those that fall together, in a raster that leaves no more
// than most of them, one is drawn.
func (c *canvas) points(calls []*histories.Op, y func(time.Duration) int, mark string, most int) string {
	var points []point
	seen := map[point]bool{}
	for _, o := range calls {
		p := point{c.s.x(o.Invoke.Time), y(c.s.lasted(o))}
		if !seen[p] {
			seen[p] = true
			points = append(points, p)
		}
	}
	for cell := 2; len(points) > most; cell *= 2 {
		clear(seen)
		points = slices.DeleteFunc(points, func(p point) bool {
			p = point{p.x / cell, p.y / cell}
			had := seen[p]
			seen[p] = true
			return had
		})
	}
	var d strings.Builder
	for _, p := range points {
		fmt.Fprintf(&d, "M%d %d%s", p.x, p.y, mark)
	}
	return d.String()
}

type point struct{ x, y int }

// windows is in how many windows the quantiles of n calls are worth drawing.
func windows(n int) int { return min(n/fewestPerWindow, manyWindows) }

var quantiles = [...]struct { //nolint:gochecknoglobals // a table that nobody changes
	class   string
	percent float64
}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}}

// quantiles draws the quantiles of calls that were done, window by window.
func (c *canvas) quantiles(f *family, y func(time.Duration) int) {
	n := windows(len(f.times[0].all))
	if n == 0 {
		return
	}
	in := make([]times, n)
	for _, o := range f.calls[0] {
		in[min(c.s.x(o.Invoke.Time)*n/columns, n-1)].add(o)
	}
	var d [len(quantiles)]strings.Builder
	drawn := -1
	for i := range in {
		if len(in[i].all) == 0 {
			continue
		}
		var percents []float64
		for _, q := range quantiles {
			percents = append(percents, q.percent)
		}
		for k, v := range in[i].at(coarse, percents...) {
			if drawn != i-1 || i == 0 {
				fmt.Fprintf(&d[k], "M%d %d", i*columns/n, y(v))
			} else {
				fmt.Fprintf(&d[k], "V%d", y(v))
			}
			fmt.Fprintf(&d[k], "H%d", (i+1)*columns/n)
		}
		drawn = i
	}
	for k, q := range quantiles {
		c.path("c4 "+q.class, d[k].String())
	}
}

// tell tells a family in figures.
func (f *family) tell(in language.Language) string {
	text := in.Sayf("%s:", in.Say(f.name))
	if n := len(f.calls[0]); n > 0 {
		v := f.times[0].at(fine, 50, 99, 100)
		text += in.Sayf(" %d done", n)
		if n >= fewestPerWindow {
			text += in.Sayf(", half of them within %s, 99%% within %s", human(v[0]), human(v[1]))
		}
		text += in.Sayf(", all within %s", human(v[2]))
	} else {
		text += in.Say(" none done")
	}
	if n := len(f.calls[1]); n > 0 {
		text += in.Sayf(", %d refused", n)
	}
	if n := len(f.calls[2]); n > 0 {
		text += in.Sayf(", %d of unknown outcome", n)
	}
	if n := f.times[2].open; n > 0 {
		text += in.Sayf(", of which %d never returned", n)
	}
	return text
}
