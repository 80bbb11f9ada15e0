package plot

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/report"
)

func commands(s *subject) report.Plot {
	const name = "commands"
	in := s.Language
	title := in.Say("Redis commands over time")
	if len(s.Exchanges) == 0 {
		return report.Plot{Name: name, Title: title, Summary: in.Say("The run kept no record of what crossed the wire.")}
	}
	var all []series
	of := map[string]int{}
	for _, x := range s.Exchanges {
		i, known := of[x.Node]
		if !known {
			i = len(all)
			of[x.Node] = i
			all = append(all, series{name: named(x.Node)})
		}
		all[i].at = append(all[i].at, x.Sent)
	}
	var told []string
	all = fewer(all, in)
	for _, n := range all {
		told = append(told, in.Sayf("%d to %s", len(n.at), n.name))
	}
	c := newCanvas(s)
	if len(s.Exchanges) >= fewestForPace {
		c.legend(lines(all))
	}
	c.faultRows()
	c.paces(in.Say("commands per second"), all)
	return c.plot(name, title, in.Sayf("%s in %s: %s.", in.Count(len(s.Exchanges), "command"), s.length(), in.List(told)))
}

// lines are the signs of series.
func lines(all []series) []sign {
	var signs []sign
	for i, s := range all {
		signs = append(signs, sign{fmt.Sprintf("c%d line", i+1), dashed, s.name})
	}
	return signs
}
