package html

import (
	"html/template"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/report"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/report/plot"
)

// drawing is a plot as the template takes it.
type drawing struct {
	ID, Title, Summary string
	SVG                template.HTML
}

func plots(r report.Run) ([]drawing, error) {
	drawn, err := plot.Draw(r)
	var all []drawing
	for _, d := range drawn {
		all = append(all, drawing{"plot-" + d.Name, d.Title, d.Summary, template.HTML(d.SVG)})
	}
	return all, err
}
