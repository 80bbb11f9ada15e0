package explore

import (
	"context"
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/workloads/schedule"
)

//go:embed margins/*.schedule
var disturbances embed.FS

// amount stands for the length of a disturbance in its schedule.
const amount = "{D}"

// resolution is how exact a margin is.
const resolution = time.Millisecond

// furthest is how far is looked, in leases, unless a disturbance says in a line that begins with upTo how far it means something.
const (
	furthest = 2
	upTo     = "# up to "
)

// Margin is how much of a disturbance a property survives.
type Margin struct {
	Disturbance string           `json:"disturbance"`
	Title       string           `json:"title"`
	Property    checker.Property `json:"property"`
	// Survives is the longest disturbance under which the property holds: of those that are a millisecond longer, it is broken, or
	// nothing can be said of it. Negative: it does not even hold without.
	Survives time.Duration `json:"survives"`
	// Always says that it held as far as was looked, which is Survives.
	Always bool `json:"always"`
}

// Margins measures by bisection, in virtual time, how much of each disturbance the properties of a lock survive, with a guard of the
// resource. It takes for granted that what breaks a property still breaks it if it lasts longer. Disturbances that the lock cannot be
// put through are left out. runs is how many were played.
func Margins(ctx context.Context, lock locks.Spec, guard resource.Guard) (all []Margin, runs int, err error) {
	entries, err := disturbances.ReadDir("margins")
	if err != nil {
		return nil, 0, err
	}
	backend := harness.Embedded()
	for _, e := range entries {
		src, err := disturbances.ReadFile("margins/" + e.Name())
		if err != nil {
			return nil, runs, err
		}
		m := measure{text: string(src), lock: lock, guard: guard, backend: backend, known: map[time.Duration]checker.Report{}}
		found, err := m.all(ctx)
		runs += m.runs
		if harness.NotApplicable(err) {
			continue
		}
		if err != nil {
			return nil, runs, fmt.Errorf("%s: %w", e.Name(), err)
		}
		all = append(all, found...)
	}
	return all, runs, nil
}

// measure measures one disturbance.
type measure struct {
	text    string
	lock    locks.Spec
	guard   resource.Guard
	backend harness.Backend
	known   map[time.Duration]checker.Report
	runs    int
	ttl     time.Duration
	title   string
	name    string
}

// all measures the disturbance for each property that is judged.
func (m *measure) all(ctx context.Context) (all []Margin, err error) {
	without, err := m.report(ctx, 0)
	if err != nil {
		return nil, err
	}
	most := m.furthest()
	for _, r := range without.Results {
		if r.Verdict == checker.NotApplicable {
			continue
		}
		margin := Margin{Disturbance: m.name, Title: m.title, Property: r.Property}
		holds := func(d time.Duration) (bool, error) {
			report, err := m.report(ctx, d)
			return err == nil && report.Result(margin.Property).Verdict == checker.Pass, err
		}
		margin.Survives, margin.Always, err = furthestThat(holds, most)
		if err != nil {
			return nil, err
		}
		all = append(all, margin)
	}
	return all, nil
}

// furthest is the longest disturbance that is looked at.
func (m *measure) furthest() time.Duration {
	leases := float64(furthest)
	if _, rest, ok := strings.Cut(m.text, upTo); ok {
		number, _, _ := strings.Cut(rest, "T")
		if n, err := strconv.ParseFloat(number, 64); err == nil {
			leases = n
		}
	}
	return time.Duration(leases * float64(m.ttl)).Round(resolution)
}

// furthestThat is the greatest length up to most that holds; negative: none. always says that it is most.
func furthestThat(holds func(time.Duration) (bool, error), most time.Duration) (d time.Duration, always bool, err error) {
	for _, end := range []time.Duration{0, most} {
		ok, err := holds(end)
		switch {
		case err != nil:
			return 0, false, err
		case end == 0 && !ok:
			return -1, false, nil
		case end == most && ok:
			return most, true, nil
		}
	}
	low, high := time.Duration(0), most
	for high-low > resolution {
		middle := (low + (high-low)/2).Truncate(resolution)
		ok, err := holds(middle)
		if err != nil {
			return 0, false, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, false, nil
}

// report is what is judged of the lock under the disturbance for so long.
func (m *measure) report(ctx context.Context, d time.Duration) (checker.Report, error) {
	if r, ok := m.known[d]; ok {
		return r, nil
	}
	parsed, err := schedule.Parse(strings.ReplaceAll(m.text, amount, d.String()))
	if err != nil {
		return checker.Report{}, err
	}
	parsed.Lock, m.title, m.name = m.lock.Name, parsed.Title, parsed.Name
	s, err := scenarios.Of(parsed)
	if err != nil {
		return checker.Report{}, err
	}
	cfg, err := s.Config(m.lock, m.guard, m.backend, 0)
	if err != nil {
		return checker.Report{}, err
	}
	cfg.Seed, cfg.Scripted = 1, true
	m.runs++
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return checker.Report{}, err
	}
	m.ttl, m.known[d] = cfg.TTL, res.Report
	return res.Report, nil
}
