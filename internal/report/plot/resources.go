package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
)

// manyLooks is how many points a line of a process has at most.
const manyLooks = 200

// A look is what a process took between two samples, and had at the second.
type look struct {
	at       time.Duration
	cpu      time.Duration
	over     time.Duration
	resident int64
}

// process is what one process, or several together, took over time.
type process struct {
	name  string
	looks []look
}

func (p process) cpu() time.Duration {
	var sum time.Duration
	for _, l := range p.looks {
		sum += l.cpu
	}
	return sum
}

func resources(s *subject) report.Plot {
	const name = "resources"
	in := s.Language
	title := in.Say("Processor and memory over time")
	all := processes(s.Samples, in)
	if len(all) == 0 {
		why := in.Say("The run kept no samples of its processes.")
		if s.simulated() {
			why = in.Say("In virtual time there are no processes to look at.")
		}
		return report.Plot{Name: name, Title: title, Summary: why}
	}
	c := newCanvas(s)
	var signs []sign
	var told []string
	busiest, largest := 0.0, int64(0)
	usage := map[string]histories.Usage{}
	for _, u := range histories.Sum(s.Samples) {
		usage[named(u.Process)] = u
	}
	for i, p := range all {
		signs = append(signs, sign{fmt.Sprintf("c%d line", i+1), dashed, p.name})
		for _, l := range p.looks {
			busiest, largest = max(busiest, l.share()), max(largest, l.resident)
		}
		if u, ok := usage[p.name]; ok {
			told = append(told, in.Sayf("%s took %s%% of a processor and at most %s MiB", p.name, digits(100*u.Share()), digits(mebi(u.Resident))))
		}
	}
	c.legend(signs)
	c.faultRows()
	p := c.panel(in.Say("processor, in % of one"), 90)
	y := c.scale(p, 100*busiest, 3)
	for i, pr := range all {
		c.path(fmt.Sprintf("c%d line", i+1), c.line(pr.looks, func(l look) int { return y(100 * l.share()) }))
	}
	p = c.panel(in.Say("memory, in MiB"), 90)
	y = c.scale(p, mebi(largest), 3)
	for i, pr := range all {
		c.path(fmt.Sprintf("c%d line", i+1), c.line(pr.looks, func(l look) int { return y(mebi(l.resident)) }))
	}
	return c.plot(name, title, strings.Join(told, in.Say("; "))+in.Say("."))
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// share is how much of one processor was taken, 1 being all of it.
func (l look) share() float64 {
	if l.over <= 0 || l.cpu <= 0 {
		return 0
	}
	return float64(l.cpu) / float64(l.over)
}

func (c *canvas) line(looks []look, y func(look) int) string {
	var d strings.Builder
	for i, l := range looks {
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&d, "%s%d %d", command, c.s.x(l.at), y(l))
	}
	if len(looks) == 1 {
		d.WriteString("h3")
	}
	return d.String()
}

// processes returns the processes in the order in which they appear, or the busiest ones and
// all others together.
func processes(samples []histories.Sample, in language.Language) []process {
	var all []process
	last := map[string]histories.Sample{}
	at := map[string]int{}
	for _, s := range samples {
		i, known := at[s.Process]
		l := look{at: s.Time, resident: s.Resident}
		if !known {
			i = len(all)
			at[s.Process] = i
			all = append(all, process{name: named(s.Process)})
		} else {
			before := last[s.Process]
			l.over = s.Time - before.Time
			l.cpu = s.CPU
			if before.PID == s.PID { // else it began between the two looks
				l.cpu -= before.CPU
			}
		}
		last[s.Process] = s
		all[i].looks = append(all[i].looks, l)
	}
	if len(all) > manyPaces {
		slices.SortStableFunc(all, func(a, b process) int { return cmp.Compare(b.cpu(), a.cpu()) })
		rest := process{name: in.Sayf("%d other processes together", len(all)-manyPaces+1)}
		for _, p := range all[manyPaces-1:] {
			rest.looks = append(rest.looks, p.looks...)
		}
		slices.SortStableFunc(rest.looks, func(a, b look) int { return cmp.Compare(a.at, b.at) })
		rest.looks = together(rest.looks)
		all = append(all[:manyPaces-1], rest)
	}
	for i := range all {
		all[i].looks = thinned(all[i].looks)
	}
	return all
}

// together sums up looks at the same instant.
func together(looks []look) []look {
	var all []look
	for _, l := range looks {
		if n := len(all); n > 0 && all[n-1].at == l.at {
			all[n-1].cpu += l.cpu
			all[n-1].resident += l.resident
			all[n-1].over = max(all[n-1].over, l.over)
			continue
		}
		all = append(all, l)
	}
	return all
}

// thinned makes one look of several, so that there are not too many: the mean of the processor
// and the most of memory.
func thinned(looks []look) []look {
	every := (len(looks) + manyLooks - 1) / manyLooks
	if every <= 1 {
		return looks
	}
	var all []look
	for part := range slices.Chunk(looks, every) {
		sum := part[len(part)-1]
		sum.cpu, sum.over = 0, 0
		for _, l := range part {
			sum.cpu += l.cpu
			sum.over += l.over
			sum.resident = max(sum.resident, l.resident)
		}
		all = append(all, sum)
	}
	return all
}
