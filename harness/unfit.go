package harness

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/worker"
	"github.com/lockbench/lockbench/workloads"
)

// UnfitError says that a lock, its guard, what it is put through and the backend do not go together.
type UnfitError struct{ Why error }

func (e *UnfitError) Error() string { return e.Why.Error() }

func (e *UnfitError) Unwrap() error { return e.Why }

// NotApplicable says whether an error of ForScenario, ForWorkload, WithWorkers or Run means that
// what was asked for does not go together. Then nothing has failed, and nothing can be said of
// the lock.
func NotApplicable(err error) bool {
	return is[*UnfitError](err) || is[*GapError](err) || is[*NeedsError](err) || is[*worker.LacksError](err) || is[*workloads.UnplayableError](err)
}

// Unplayed says whether an error of Run means that a step of a script could not be played, and no
// more. Of a lock that the steps were not written for nothing is known then; of any other, it is the
// harness that failed.
func Unplayed(err error) bool { return is[*workloads.StepError](err) && !is[*DeathError](err) }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// fits says why a scenario cannot be played with a lock and a guard, or nil. A lock that the
// catalogue names for it may promise less than the steps ask: that is what they show.
func fits(s scenarios.Scenario, lock locks.Spec, guard resource.Guard) error {
	if err := guard.Supports(lock); err != nil {
		return &UnfitError{err}
	}
	if s.Names(lock.Name, guard) {
		return nil
	}
	why, err := s.Unfit(lock, locks.Find)
	if err == nil && why != "" {
		return &UnfitError{fmt.Errorf("scenario %s does not apply to lock %s: %s", s.Name, lock.Name, why)}
	}
	return err
}
