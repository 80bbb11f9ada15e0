package html

import (
	"html/template"

	"github.com/lockbench/lockbench/internal/report"
)

// drawing is a plot as the template takes it.
type drawing struct {
	ID, Title, Summary string
	SVG                template.HTML
}

// plots draws what happened over time, if there is something that does.
func (p *page) plots(r report.Run, draw func(report.Run) ([]report.Plot, error)) error {
	if draw == nil {
		return nil
	}
	all, err := draw(r)
	p.Plots = drawings("plot-", all)
	return err
}

// drawings are plots, whose names on the page begin with prefix.
func drawings(prefix string, all []report.Plot) (drawn []drawing) {
	for _, d := range all {
		drawn = append(drawn, drawing{prefix + d.Name, d.Title, d.Summary, template.HTML(d.SVG)})
	}
	return drawn
}
