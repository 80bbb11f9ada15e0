package scenarios

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// Config returns the run of the scenario with a lock and a guard on a backend. A ttl of 0 means the scenario's own.
// Where they do not go together the error is a *harness.UnfitError, with a *GapError in it if the backend cannot play
// the scenario.
func (s Scenario) Config(lock locks.Spec, guard resource.Guard, backend harness.Backend, ttl time.Duration) (harness.Config, error) {
	if err := s.fits(lock, guard); err != nil {
		return harness.Config{}, err
	}
	c := s.Case(lock.Name, guard)
	cfg, err := harness.Config{
		Test: harness.Test{
			Name: s.Name, Workload: s.Script, Lock: lock, Guard: guard, Keys: s.Keys, Faults: !s.Faultless,
			Clocks: s.Clocks, Threads: s.Threads, InProcess: s.InProcess, Overtaking: s.Overtaking,
		},
		Deployment: harness.Deployment{Replicas: s.Replicas, ClusterMode: s.ClusterMode},
		Expected:   harness.Expected{Want: c.Want, Note: c.Note},
		Output:     harness.Output{Pitfall: s.ID, Title: s.Title, CommandLog: true},
	}.On(backend)
	if why := s.Gaps[cfg.Backend.Name]; why != "" {
		return harness.Config{}, &harness.UnfitError{Why: &GapError{Scenario: s.Name, Backend: cfg.Backend.Name, Why: why}}
	}
	if err != nil {
		return harness.Config{}, err
	}
	if cfg.TTL, err = cfg.Lease(ttl, s.TTL, s.RealTTL); err != nil {
		return harness.Config{}, err
	}
	if broken := s.Broken(); c.Lock == broken.Lock && c.Guard == broken.Guard && c.Remedy == broken.Remedy {
		cfg.Why = s.Why // and no other lock's reason
	}
	return cfg, nil
}

// Better returns the cases that keep, under the same steps, what a lock under a guard may break as the broken lock
// does. There are none if it keeps that itself.
func (s Scenario) Better(lock string, guard resource.Guard) []Case {
	if s.Names(lock, guard) && s.Saves(s.Case(lock, guard)) {
		return nil
	}
	return s.Survivors()
}

// fits returns why the scenario cannot be played with a lock and a guard, or nil. A lock that the catalogue names for
// it may promise less than the steps ask: that is what they show.
func (s Scenario) fits(lock locks.Spec, guard resource.Guard) error {
	if err := guard.Supports(lock); err != nil {
		return &harness.UnfitError{Why: err}
	}
	if s.Names(lock.Name, guard) && len(s.Script.Expect) > 0 {
		return nil
	}
	if why := s.Unfit(lock); why != "" {
		return &harness.UnfitError{Why: fmt.Errorf("scenario %s does not apply to lock %s: %s", s.Name, lock.Name, why)}
	}
	return nil
}

// GapError says that a backend cannot play a scenario.
type GapError struct{ Scenario, Backend, Why string }

func (e *GapError) Error() string {
	return fmt.Sprintf("scenario %s cannot run on backend %s: %s", e.Scenario, e.Backend, e.Why)
}
