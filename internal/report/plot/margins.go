package plot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/report"
)

// Margins draws for each disturbance how far each property holds, with a bar for each lock, along its length in leases. There is no
// picture of what everything survives.
func Margins(all []report.Measured) []report.Plot {
	var plots []report.Plot
	for _, of := range disturbances(all) {
		plots = append(plots, margins(of, all))
	}
	return plots
}

// disturbances returns a margin of each disturbance, in the order in which they are first met.
func disturbances(all []report.Measured) (each []report.Margin) {
	for _, lock := range all {
		for _, m := range lock.Margins {
			if !slices.ContainsFunc(each, func(o report.Margin) bool { return o.Disturbance == m.Disturbance }) {
				each = append(each, m)
			}
		}
	}
	return each
}

// A reach is a margin of a lock, with the class that it is drawn in.
type reach struct {
	report.Margin
	lock, class string
}

// The heights of a row: of its heading, and of each bar.
const (
	rowHeading = 17
	rowBar     = 13
)

// margins draws one disturbance.
func margins(of report.Margin, all []report.Measured) report.Plot {
	s := &subject{to: of.Looked.Seconds() / of.Lease.Seconds(), unit: " T"}
	c := newCanvas(s)
	var signs []sign
	var rows [][]reach // one a property, in the order in which they are first met
	for i, lock := range all {
		class := fmt.Sprintf("c%d", i%len(colours)+1)
		signs = append(signs, sign{class + " area", "m-9-4h18v8h-18z", named(lock.Lock)})
		for _, m := range lock.Margins {
			if m.Disturbance != of.Disturbance {
				continue
			}
			at := slices.IndexFunc(rows, func(row []reach) bool { return row[0].Property == m.Property })
			if at < 0 {
				at, rows = len(rows), append(rows, nil)
			}
			rows[at] = append(rows[at], reach{m, lock.Lock, class})
		}
	}
	signs = append(signs, sign{"p99", dashed, "the lease"}, sign{"bad", dashed, "it does not hold, or nobody can say"})
	if slices.ContainsFunc(slices.Concat(rows...), func(r reach) bool { return r.Again }) {
		signs = append(signs, sign{"bad max", dashed, "it does not always hold"})
	}
	name, summary := "margins-"+of.Disturbance, told(rows, len(all) > 1)
	if !slices.ContainsFunc(slices.Concat(rows...), func(r reach) bool { return !r.Always }) {
		return report.Plot{Name: name, Title: of.Title, Summary: summary}
	}
	c.legend(signs)
	c.top = c.height
	for _, row := range rows {
		c.text("", 0, c.height+12, report.Label(row[0].Property))
		c.height += rowHeading
		for _, r := range row {
			c.reach(r)
		}
		c.height += 5
	}
	if lease := int(columns/s.to + 0.5); lease <= columns {
		c.path("p99", fmt.Sprintf("M%d %dV%d", lease, c.top, c.height))
	}
	return c.plot(name, of.Title, summary)
}

// reach draws the bar of a margin, and what it does not reach.
func (c *canvas) reach(r reach) {
	top, bottom := c.height+1, c.height+rowBar-1
	end := columns
	if !r.Always {
		end = int(max(r.Survives, 0).Seconds()/r.Looked.Seconds()*columns + 0.5)
	}
	if end > 0 {
		c.path(r.class+" area", fmt.Sprintf("M0 %dH%dV%dH0z", top, end, bottom))
	}
	if !r.Always {
		class := "bad"
		if r.Again {
			class = "bad max"
		}
		c.path(class, fmt.Sprintf("M%d %dH%d", end, bottom, columns))
		c.text("", end+5, bottom-2, length(r.Margin))
	}
	c.height += rowBar
}

// length tells how far a property holds.
func length(m report.Margin) string {
	if m.Never() {
		return "not even without"
	}
	return m.Leases(m.Survives)
}

// told says in words what a picture shows.
func told(rows [][]reach, several bool) string {
	var breaks, holds []string
	most := ""
	for _, row := range rows {
		some := false
		for _, r := range row {
			most = r.Leases(r.Looked)
			if r.Always {
				continue
			}
			some = true
			text := report.Label(r.Property) + " " + length(r.Margin)
			if several {
				text += " with " + r.lock
			}
			if !r.Never() {
				text += fmt.Sprintf(" (%d ms)", r.Survives/time.Millisecond)
			}
			if r.Again {
				text += ", and again under longer ones"
			}
			breaks = append(breaks, text)
		}
		if !some {
			holds = append(holds, report.Label(row[0].Property))
		}
	}
	switch {
	case len(breaks) == 0:
		return fmt.Sprintf("Up to %s everything holds: %s.", most, strings.Join(holds, ", "))
	case len(holds) == 0:
		return "Survived: " + strings.Join(breaks, "; ") + "."
	}
	return fmt.Sprintf("Survived: %s; up to %s: %s.", strings.Join(breaks, "; "), most, strings.Join(holds, ", "))
}
