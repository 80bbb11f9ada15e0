package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// manyLanes is how many keys are drawn, the last lane being all others together.
const manyLanes = 6

// A lane is how many clients believe that they hold a key, or some keys, over time.
type lane struct {
	name  string
	holds []story.Belief
	steps []step
	sum   violations
}

// A step is the state from an instant on, until the next one.
type step struct {
	at      time.Duration
	holders int
	bad     bool // of one key there is more than one, and they do not share it
}

// violations is what there was of states that are bad.
type violations struct {
	most  int // holders at once
	times int
	took  time.Duration
	first time.Duration
}

func holders(s *subject) report.Plot {
	const name = "holders"
	in := s.Language
	title := in.Say("Clients that believe that they hold the lock")
	lanes := s.lanes()
	if len(lanes) == 0 {
		return report.Plot{Name: name, Title: title, Summary: in.Say("Nobody was granted a lock.")}
	}
	c := newCanvas(s)
	bad := violations{}
	var told []string
	for _, l := range lanes {
		bad.times += l.sum.times
		bad.took += l.sum.took
	}
	signs := []sign{{"c1 area", "m-9-4h18v8h-18z", in.Say("holders")}}
	if bad.times > 0 {
		signs = append(signs, sign{"bad area", "m-9-4h18v8h-18z", in.Say("more than one, and not shared")})
	}
	c.legend(signs)
	c.faultRows()
	for _, l := range lanes {
		p := c.panel(l.name, 16+12*min(max(l.sum.most, 1), 4))
		c.lane(p, l)
		told = append(told, in.Sayf("%s by at most %d at once", l.name, l.sum.most))
	}
	text := in.Sayf("Held: %s; ", in.List(told))
	switch bad.times {
	case 0:
		text += in.Say("never by more than one who would not share it.")
	default:
		first := slices.MinFunc(lanes, func(a, b lane) int { return cmp.Compare(a.sum.begin(), b.sum.begin()) })
		text += in.Sayf("%s by more than one who would not share it, for %s together, first %s at %s.",
			often(bad.times, in), human(bad.took), first.name, words.Seconds(first.sum.first))
	}
	return c.plot(name, title, text)
}

// begin is when the first violation began, or the end of time.
func (v violations) begin() time.Duration {
	if v.times == 0 {
		return math.MaxInt64
	}
	return v.first
}

func often(n int, in language.Language) string {
	if n == 1 {
		return in.Say("once")
	}
	return in.Sayf("%d times", n)
}

// lanes returns a lane of each key, in the order in which they were first held, or those of the
// keys with violations and the most holds, and one of all others.
func (s *subject) lanes() []lane {
	var lanes []*lane
	of := map[string]*lane{}
	for _, h := range s.Story().Beliefs() {
		l := of[h.Key]
		if l == nil {
			l = &lane{name: named(h.Key)}
			of[h.Key] = l
			lanes = append(lanes, l)
		}
		l.holds = append(l.holds, h)
	}
	for _, l := range lanes {
		l.sweep(s.last)
	}
	if len(lanes) > manyLanes {
		slices.SortStableFunc(lanes, func(a, b *lane) int {
			return cmp.Or(cmp.Compare(b.sum.times, a.sum.times), cmp.Compare(len(b.holds), len(a.holds)))
		})
		rest := &lane{name: s.Language.Sayf("%d other keys together", len(lanes)-manyLanes+1)}
		for _, l := range lanes[manyLanes-1:] {
			rest.holds = append(rest.holds, l.holds...)
		}
		rest.sweep(s.last)
		lanes = append(lanes[:manyLanes-1], rest)
	}
	var all []lane
	for _, l := range lanes {
		all = append(all, *l)
	}
	return all
}

// sweep finds the steps of a lane's holds. Events order them where times are equal.
func (l *lane) sweep(end time.Duration) {
	type change struct {
		histories.Instant
		hold *story.Belief
		by   int
	}
	var changes []change
	for i := range l.holds {
		h := &l.holds[i]
		changes = append(changes, change{h.Returned, h, 1})
		if !h.Open() {
			changes = append(changes, change{h.Ended, h, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.Event, b.Event) })
	keys := map[string]*company{}
	holders, bad := 0, 0
	for _, ch := range changes {
		k := keys[ch.hold.Key]
		if k == nil {
			k = &company{workers: map[int]int{}}
			keys[ch.hold.Key] = k
		}
		before := k.bad()
		k.add(ch.hold, ch.by)
		holders += ch.by
		l.sum.most = max(l.sum.most, holders)
		switch after := k.bad(); {
		case after && !before:
			bad++
			if l.sum.times++; l.sum.times == 1 {
				l.sum.first = ch.Time
			}
		case before && !after:
			bad--
		}
		if n := len(l.steps); n > 0 && l.steps[n-1].bad {
			l.sum.took += max(ch.Time-l.steps[n-1].at, 0)
		}
		l.steps = append(l.steps, step{ch.Time, holders, bad > 0})
	}
	if n := len(l.steps); n > 0 && l.steps[n-1].bad {
		l.sum.took += max(end-l.steps[n-1].at, 0)
	}
}

// company is who believes to hold one key.
type company struct {
	all, shared, reentrant int
	workers                map[int]int // of those that are re-entrant
}

func (c *company) add(h *story.Belief, by int) {
	c.all += by
	switch h.Mode {
	case histories.Shared:
		c.shared += by
	case histories.Reentrant:
		c.reentrant += by
		if c.workers[h.Worker] += by; c.workers[h.Worker] == 0 {
			delete(c.workers, h.Worker)
		}
	}
}

// bad reports whether there are two who do not share the key, as histories.Hold.Shares says.
func (c *company) bad() bool {
	return c.all > 1 && c.shared != c.all && (c.reentrant != c.all || len(c.workers) > 1)
}

// manyChanges is how many changes of a lane are drawn one by one.
const manyChanges = 250

// lane draws a lane as an area. Where there are too many changes, it is as high as the most at
// once, and darker as high as the mean.
func (c *canvas) lane(p panel, l lane) {
	y := c.scale(p, float64(max(l.sum.most, 1)), min(max(l.sum.most, 1), 2))
	r := c.s.raster(l.steps)
	cell := 1
	if r.changes() > manyChanges {
		cell = 6
		r = r.coarser(cell)
		c.path("c1 area", r.area(p, cell, func(i int) int { return y(r.mean[i]) }, func(int) bool { return true }))
	}
	most := func(i int) int { return y(float64(r.most[i])) }
	c.path("c1 area", r.area(p, cell, most, func(i int) bool { return !r.bad[i] }))
	c.path("bad area", r.area(p, cell, most, func(i int) bool { return r.bad[i] }))
}

// raster are the steps of a lane in columns.
type raster struct {
	most []int
	mean []float64
	bad  []bool
}

func (s *subject) raster(steps []step) raster {
	r := raster{make([]int, columns), make([]float64, columns), make([]bool, columns)}
	for i, st := range steps {
		from, to := st.at.Seconds(), s.to
		if i+1 < len(steps) {
			to = steps[i+1].at.Seconds()
		}
		scale := columns / (s.to - s.from)
		a, b := (from-s.from)*scale, (to-s.from)*scale
		for x := min(int(a), columns-1); x < columns && (float64(x) < b || x == min(int(a), columns-1)); x++ {
			r.most[x] = max(r.most[x], st.holders)
			r.mean[x] += float64(st.holders) * max(min(b, float64(x+1))-max(a, float64(x)), 0)
			r.bad[x] = r.bad[x] || st.bad
		}
	}
	return r
}

func (r raster) changes() int {
	n := 0
	for x := 1; x < len(r.most); x++ {
		if r.most[x] != r.most[x-1] || r.bad[x] != r.bad[x-1] {
			n++
		}
	}
	return n
}

// coarser makes one column of as many as cell.
func (r raster) coarser(cell int) raster {
	n := (len(r.most) + cell - 1) / cell
	all := raster{make([]int, n), make([]float64, n), make([]bool, n)}
	for x := range r.most {
		i := x / cell
		all.most[i] = max(all.most[i], r.most[x])
		all.mean[i] += r.mean[x] / float64(cell)
		all.bad[i] = all.bad[i] || r.bad[x]
	}
	return all
}

// area is the outline of what is above the bottom of a panel, where only says so.
func (r raster) area(p panel, cell int, y func(int) int, only func(int) bool) string {
	var d strings.Builder
	at := p.bottom
	for i := 0; i <= len(r.most); i++ {
		to := p.bottom
		if i < len(r.most) && only(i) {
			to = y(i)
		}
		if to == at {
			continue
		}
		x := min(i*cell, columns)
		if at == p.bottom {
			fmt.Fprintf(&d, "M%d %dV%d", x, at, to)
		} else {
			fmt.Fprintf(&d, "H%dV%d", x, to)
		}
		at = to
	}
	return d.String()
}
