package explore

import (
	"context"
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

//go:embed margins/*.schedule
var disturbances embed.FS

// amount stands for the length of a disturbance in its schedule.
const amount = "{D}"

// resolution is how exact a margin is, and stride, in leases, how far apart are the lengths that are looked at first.
const (
	resolution = time.Millisecond
	stride     = 0.04
)

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
	// Survives is the longest disturbance up to which the property holds: under one that is a millisecond longer it is broken, or
	// nothing can be said of it. Negative: it does not even hold without.
	Survives time.Duration `json:"survives"`
	// Always says that it held as far as was looked, which is Survives.
	Always bool `json:"always"`
	// Again says that it also holds under some that are longer than one under which it does not.
	Again bool `json:"again,omitempty"`
	// Looked is the longest disturbance that was looked at, and Lease that of the lock.
	Looked time.Duration `json:"looked"`
	Lease  time.Duration `json:"lease"`
}

// Margins measures in virtual time how much of each disturbance the properties of a lock survive, with a guard of the resource. It
// looks at lengths that are a stride apart, and by bisection between the first that breaks a property and the one before it. A property that
// breaks and holds again within one stride is not seen. Disturbances that the lock cannot be put through are left out. runs is how many
// were played.
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
		margin := Margin{Disturbance: m.name, Title: m.title, Property: r.Property, Looked: most, Lease: m.ttl}
		err := margin.measure(m.lengths(most), func(d time.Duration) (bool, error) { return m.holds(ctx, margin.Property, d) })
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

// measure finds how much is survived, first at lengths, and then between two of them.
func (m *Margin) measure(lengths []time.Duration, holds func(time.Duration) (bool, error)) error {
	low, high := -resolution, time.Duration(-1) // the last that holds before the first that does not; -1: there is none yet
	for _, d := range lengths {
		ok, err := holds(d)
		switch {
		case err != nil:
			return err
		case ok && high < 0:
			low = d
		case ok:
			m.Again = true
		case high < 0:
			high = d
		}
	}
	m.Always = high < 0
	for !m.Always && high-low > resolution {
		middle := (low + (high-low)/2).Truncate(resolution)
		ok, err := holds(middle)
		if err != nil {
			return err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	m.Survives = low
	return nil
}

// lengths are those that are looked at first, up to most.
func (m *measure) lengths(most time.Duration) (all []time.Duration) {
	step := time.Duration(stride * float64(m.ttl)).Round(resolution)
	for d := time.Duration(0); d < most; d += step {
		all = append(all, d)
	}
	return append(all, most)
}

// holds reports whether a property is kept under the disturbance for so long. That nothing can be said of it does not count.
func (m *measure) holds(ctx context.Context, p checker.Property, d time.Duration) (bool, error) {
	report, err := m.report(ctx, d)
	return err == nil && report.Result(p).Verdict == checker.Pass, err
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
	cfg.Seed = 1
	m.runs++
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return checker.Report{}, err
	}
	m.ttl, m.known[d] = cfg.TTL, res.Report
	return res.Report, nil
}
