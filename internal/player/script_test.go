package player_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/locks"
)

// TestStepsNameWhatIsMissing checks that a step which cannot be played says what it wants.
func TestStepsNameWhatIsMissing(t *testing.T) {
	for want, step := range map[string]string{
		"names key 3, and there are 2": "wait lease-ends key 3 within T",
		`names client "B"`:             "B hang",
		`client "C"`:                   "start renewal-cut C",
	} {
		if err := sim.Run(1, time.Minute, func(w *sim.World) error {
			s := &player.Stage{Clock: w.Source(), Keys: []player.Key{{Name: "k"}, {Name: "l"}}, Interrupted: func() error { return nil }}
			steps, err := schedule.ParseSteps(3, step)
			if err != nil {
				return err
			}
			return player.Script{Schedule: schedule.Schedule{Steps: steps}}.Run(context.Background(), s)
		}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", step, err, want)
		}
	}
}

func TestScriptsNeedRefusalsThatCanBeReleased(t *testing.T) {
	script := player.Script{Schedule: schedule.Schedule{Steps: []schedule.Step{{Verb: schedule.Release, Who: []string{"A"}, Refused: true}}}}
	if err := script.Unsupported(locks.Spec{Name: "plain"}); err == nil || !strings.Contains(err.Error(), "lock plain does not say that a refusal leaves anything to release") {
		t.Errorf("a plain lock: %v", err)
	}
	if err := script.Unsupported(locks.Spec{Promises: locks.Promises{ReleasesRefused: true}}); err != nil {
		t.Error(err)
	}
}

func TestScriptsNeedLocksThatCanBeReentered(t *testing.T) {
	script := player.Script{Schedule: schedule.Schedule{Steps: []schedule.Step{{Verb: schedule.Reenter, Who: []string{"A"}}}}}
	if err := script.Unsupported(locks.Spec{Name: "plain"}); err == nil || !strings.Contains(err.Error(), "lock plain cannot be re-entered") {
		t.Errorf("a plain lock: %v", err)
	}
	for _, ok := range []error{script.Unsupported(locks.Spec{Reenters: true}), player.Script{}.Unsupported(locks.Spec{})} {
		if ok != nil {
			t.Error(ok)
		}
	}
}
