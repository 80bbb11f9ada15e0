package html

import (
	"errors"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
)

// porcupine draws the first violation of exclusion, or of a model, as the checker's engine sees it.
func (p *page) porcupine(r report.Run, model checker.Model) error {
	for _, res := range r.Results {
		var b strings.Builder
		var err error
		if model == "" {
			err = checker.Visualise(&b, r.Events, res)
		} else {
			err = checker.VisualiseModel(&b, r.Events, model, res)
		}
		if errors.Is(err, checker.ErrNothingToDraw) {
			continue
		}
		if err != nil {
			return err
		}
		p.Porcupine, p.Explored = b.String(), p.in.Say(report.Label(res.Property))
		return nil
	}
	return nil
}

// scriptsOf are the scripts of a page that another page shows in a frame: what the one may do
// the other must allow.
func scriptsOf(page string) []string {
	var scripts []string
	for {
		_, rest, found := strings.Cut(page, "<script>")
		if !found {
			return scripts
		}
		var script string
		script, page, _ = strings.Cut(rest, "</script>")
		scripts = append(scripts, script)
	}
}
