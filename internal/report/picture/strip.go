package picture

import (
	"math"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// The overview is drawn to scale, stretched over the width of the page.
const (
	stripWidth  = 1000
	stripHeight = 40
	stripBins   = 250
)

// strip draws the whole run as a strip, with the place of what is drawn below it as a frame.
func (s *scene) strip(c *canvas, r report.Run) {
	first, last := r.Events[0].Time, r.Events[0].Time
	for _, e := range r.Events {
		first, last = min(first, e.Time), max(last, e.Time)
	}
	if first == last {
		return
	}
	x := func(t time.Duration) float64 {
		return float64(min(max(t, first), last)-first) / float64(last-first) * stripWidth
	}
	c.put(`<svg class="picture-strip" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">`+"\n", stripWidth, stripHeight,
		esc(s.in.Sayf("Overview of the whole run, %s s to %s s: how many events happened when, faults as bands, violations as red lines, what is drawn below as a frame", words.Instant(first), words.Instant(last))))
	s.stripFaults(c, r, x)
	var bins [stripBins]int
	most := 1
	for _, e := range r.Events {
		i := min(int(x(e.Time)/stripWidth*stripBins), stripBins-1)
		bins[i]++
		most = max(most, bins[i])
	}
	c.put(`<path class="density" d="M0 %d`, stripHeight)
	for i, n := range bins {
		y := stripHeight - math.Sqrt(float64(n)/float64(most))*(stripHeight-8)
		c.put("L%s %sL%s %s", px(float64(i)*stripWidth/stripBins), px(y), px(float64(i+1)*stripWidth/stripBins), px(y))
	}
	c.put("L%d %dZ\"/>\n", stripWidth, stripHeight)
	for _, res := range report.Proven(r.Results) {
		if i := place(r.Events, res.Witness[0]); i >= 0 {
			c.put(`<rect class="wrong" x="%s" width="2" height="%d"/>`, px(x(r.Events[i].Time)), stripHeight)
		}
	}
	c.put("\n"+`<rect class="frame" x="%s" width="%s" y="1" height="%d"/></svg>`+"\n", px(x(s.from)), px(math.Max(x(s.to)-x(s.from), 4)), stripHeight-2)
	c.put(`<div class="picture-ends" aria-hidden="true"><span>%s s</span><span>%s</span><span>%s s</span></div>`+"\n", words.Instant(first), esc(s.in.Say("whole run")), words.Instant(last))
}

// mostStripFaults is how many faults the overview shows one by one.
const mostStripFaults = 300

// stripFaults draws faults from their start to their end.
func (s *scene) stripFaults(c *canvas, r report.Run, x func(time.Duration) float64) {
	type id struct {
		f    histories.F
		node string
	}
	open, n := map[id]time.Duration{}, 0
	put := func(from, to time.Duration) {
		if n++; n <= mostStripFaults {
			c.put(`<rect class="fault" x="%s" width="%s" height="%d"/>`, px(x(from)), px(math.Max(x(to)-x(from), 1.5)), stripHeight)
		}
	}
	end := r.Events[len(r.Events)-1].Time
	for _, e := range r.Events {
		if e.Process != histories.Nemesis || e.Single() {
			continue
		}
		k := id{e.F, e.Node}
		from, begun := open[k]
		switch {
		case e.Type == histories.Invoke:
			open[k] = e.Time
		case begun:
			put(from, e.Time)
			delete(open, k)
		}
	}
	for _, e := range r.Events { // in the order of the events: a map has none
		k := id{e.F, e.Node}
		if from, begun := open[k]; begun && from == e.Time && e.Type == histories.Invoke && e.Process == histories.Nemesis {
			put(from, end)
			delete(open, k)
		}
	}
}
