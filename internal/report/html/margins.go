package html

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

//go:embed margins.tmpl
var marginsSource string

// marginsPage is what the template of margins shows.
type marginsPage struct {
	Policy     string
	Style      template.CSS
	Title      string
	Conditions []string
	Plots      []drawing
	Replay     string
}

// Margins writes a page of how far the properties of locks hold as something lasts longer and longer. plots draw them, runs is how many were played, and
// command what makes the page again. It needs neither a network nor a script. The same margins give the same bytes. An error is w's.
func Margins(w io.Writer, all []report.Measured, plots []report.Plot, guard string, runs int, command string) error {
	t, err := template.New("margins").Parse(marginsSource)
	if err != nil {
		return fmt.Errorf("the template of the page is wrong: %w", err)
	}
	var names []string
	for _, m := range all {
		names = append(names, m.Lock)
	}
	p := marginsPage{
		Policy: Policy(), Style: template.CSS(style), Title: strings.Join(names, ", "), Replay: command,
		Conditions: []string{"guard " + guard, words.Count(runs, "run") + " in virtual time"},
	}
	for _, m := range all {
		if len(m.Margins) > 0 {
			p.Conditions = append(p.Conditions, fmt.Sprintf("a lease T of %v", m.Margins[0].Lease))
			break
		}
	}
	p.Plots = drawings("", plots)
	return t.Execute(w, p)
}
