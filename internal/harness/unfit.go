package harness

import (
	"errors"

	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/nemesis"
)

// UnfitError says that a lock, its guard, what it is put through and the backend do not go together.
type UnfitError struct{ Why error }

func (e *UnfitError) Error() string { return e.Why.Error() }

func (e *UnfitError) Unwrap() error { return e.Why }

// NotApplicable reports whether an error of a Config, of ForWorkload or of Run means that
// what was asked for does not go together. Then nothing has failed, and nothing can be said of
// the lock.
func NotApplicable(err error) bool {
	return is[*UnfitError](err) || is[*NeedsError](err) || is[*worker.LacksError](err) || is[*player.UnplayableError](err) || is[*nemesis.IncapableError](err)
}

// withoutClocks says of a run in which the clocks of servers were to be set, and cannot be, that it does not apply. Any other
// error stays as it is.
func withoutClocks(err error) error {
	if errors.Is(err, nemesis.ErrNoClocks) {
		return &UnfitError{err}
	}
	return err
}

// Unplayed reports whether an error of Run means that a step of a script could not be played, and no
// more. Of a lock that the steps were not written for nothing is known then; of any other, it is the
// harness that failed.
func Unplayed(err error) bool { return is[*player.StepError](err) && !is[*DeathError](err) }

// SeemsToWait reports whether an error of Run means that a script does not apply to a lock because that waits where it is to try once. On real
// servers a machine that is too busy may be why.
func SeemsToWait(err error) bool {
	why, ok := errors.AsType[*player.UnplayableError](err)
	return ok && why.Slow
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
