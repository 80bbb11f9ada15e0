package picture

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Heights in px.
const (
	lineHeight = 13 // of a label
	callHeight = 10
	barHeight  = 18
	holdHeight = barHeight + 9 // a belief and its lease under it
	tickHeight = 9
	padding    = 10
	axisHeight = 34
	maxLevels  = 8 // of bars in a lane; what does not fit shares the last one
)

// crowded is how many events a picture may have before labels must share its width.
const crowded = 90

// pageWidth is how wide a picture is at least.
const pageWidth = 1120

// right is where the last label of a lane ends.
func (l *lane) right(a axis) float64 {
	x := 0.0
	for _, m := range l.marks {
		switch {
		case m.hidden:
		case m.beside():
			x = math.Max(x, a.px(m.from)+width(m.label))
		case m.f == "lease", l.kind == faultLane:
			x = math.Max(x, a.px(m.to)+width(m.label)+8)
		}
	}
	return x
}

// labelLevels is in how many lines labels of a lane may be staggered.
func (l *lane) labelLevels() int {
	if l.kind == faultLane {
		return 0
	}
	return 2
}

// place gives everything its place.
func (s *scene) place(events int) {
	s.labels = 112
	ease := math.Min(1, crowded/float64(max(events, 1)))
	var times []time.Duration
	var demands []demand
	times = append(times, s.from, s.to)
	for _, l := range s.lanes {
		slices.SortStableFunc(l.marks, func(a, b *mark) int {
			return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.event, b.event))
		})
		for _, m := range l.marks {
			times = append(times, m.from, m.to)
		}
		for _, m := range l.bands {
			times = append(times, m.from, m.to)
		}
		demands = append(demands, l.demands(ease)...)
	}
	for _, w := range s.wrongs {
		if w.drawn {
			times = append(times, w.from, w.to)
			if w.to > w.from {
				demands = append(demands, demand{w.from, w.to, 40})
			}
		}
	}
	for _, w := range s.arrows {
		times = append(times, w.from, w.to)
	}
	step := 14.0
	if ease < 1 {
		step = math.Max(5, 14*ease)
	}
	s.axis = newAxis(times, step, demands)
	s.axis.stretch(pageWidth - s.labels - 130)
	y := float64(axisHeight)
	if len(s.wrongs) > 0 {
		y += s.callouts()
	}
	for _, l := range s.lanes {
		l.stack(s.axis)
		l.y = y
		l.h = l.height()
		y += l.h
		s.axis.width = math.Max(s.axis.width, l.right(s.axis)+margin)
	}
	s.axis.width = math.Ceil(math.Max(s.axis.width, pageWidth-s.labels))
	s.height = y + padding
}

// beside is the row in which the labels of a mark stand, if they stand beside it.
func (m *mark) beside() bool { return m.row == callRow || m.row == tickRow }

// demands are what a lane's labels ask of the axis.
func (l *lane) demands(ease float64) []demand {
	var all []demand
	for _, r := range []row{callRow, tickRow} {
		var before []*mark
		for _, m := range l.marks {
			if m.row != r || m.label == "" {
				continue
			}
			if n := len(before) - l.labelLevels(); n >= 0 && l.labelLevels() > 0 {
				all = append(all, demand{before[n].from, m.from, (width(before[n].label) + 12) * ease})
			}
			before = append(before, m)
		}
	}
	for _, m := range l.marks {
		switch {
		case m.row == holdRow && m.class != "lease" && m.to > m.from && l.kind != faultLane && m.short != "":
			all = append(all, demand{m.from, m.to, (width(m.short) + 18) * ease})
		case m.row == callRow && m.to > m.from:
			all = append(all, demand{m.from, m.to, 12 * ease})
		}
	}
	return all
}

// stack gives the marks of a lane their levels.
func (l *lane) stack(a axis) {
	for _, r := range []row{callRow, tickRow} {
		l.stagger(a, r)
	}
	var ends []float64
	keyLevel := map[string]int{}
	for _, m := range l.marks {
		if m.row != holdRow || m.f == "lease" {
			continue
		}
		from, to := a.px(m.from), a.px(m.to)
		if l.kind == faultLane {
			to = math.Max(to, from+width(m.label)+20)
		}
		m.level = level(&ends, from, to)
		keyLevel[m.key] = m.level
		for _, lease := range l.marks { // a lease is under its belief
			if lease.f == "lease" && lease.key == m.key && lease.from >= m.from && (lease.from <= m.to) {
				lease.level = m.level
			}
		}
	}
	l.rows[holdRow] = len(ends)
}

// level is the first level that is free from a place on; it takes it until another.
func level(ends *[]float64, from, to float64) int {
	for i, end := range *ends {
		if end <= from+0.05 {
			(*ends)[i] = to
			return i
		}
	}
	if len(*ends) == maxLevels {
		last := maxLevels - 1
		(*ends)[last] = math.Max((*ends)[last], to)
		return last
	}
	*ends = append(*ends, to)
	return len(*ends) - 1
}

// stagger gives labels their lines. A label for which there is no room is hidden: it is in the
// mark's title, and is shown when there is room.
func (l *lane) stagger(a axis, r row) {
	ends := make([]float64, l.labelLevels())
	found := false
	for _, m := range l.marks {
		if m.row != r {
			continue
		}
		found = true
		if m.label == "" {
			continue
		}
		x := a.px(m.from)
		m.hidden = true
		for i := range ends {
			if ends[i] <= x {
				ends[i], m.at, m.hidden = x+width(m.label)+8, i, false
				break
			}
		}
	}
	if found {
		l.rows[r] = 1
	}
}

// top is where a row of the lane begins, from the lane's own top.
func (l *lane) top(r row) float64 {
	y := float64(padding)
	calls := 0.0
	if l.rows[callRow] > 0 {
		calls = float64(l.labelLevels()*lineHeight + callHeight + 6)
	}
	switch r {
	case labelRow:
		return y
	case callRow:
		return y + float64(l.labelLevels()*lineHeight)
	case holdRow:
		return y + calls
	}
	y += calls + float64(l.rows[holdRow])*l.bar()
	if r == tickRow {
		return y
	}
	if l.rows[tickRow] > 0 {
		y += tickHeight + 2
		if r == underRow {
			return y
		}
		y += float64(l.labelLevels() * lineHeight)
	}
	return y
}

// bar is the height of a level of bars.
func (l *lane) bar() float64 {
	switch l.kind {
	case clientLane:
		return holdHeight
	case faultLane:
		return barHeight + 2
	}
	return barHeight + 4
}

func (l *lane) height() float64 {
	return math.Max(l.top(rowKinds)+padding, 48)
}
