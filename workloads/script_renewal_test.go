package workloads_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/sim"
	"github.com/lockbench/lockbench/workloads"
)

// TestStepsNameWhatIsMissing checks that a step which cannot be played says what it wants.
func TestStepsNameWhatIsMissing(t *testing.T) {
	for want, step := range map[string]workloads.Step{
		"names key 3, and there are 2": workloads.SectionLasts("A", 3, 1),
		"names key 0, and there are 2": workloads.SectionLasts("A", 0, 1),
		`names client "B"`:             workloads.Hang("B"),
		`client "C"`:                   workloads.RenewalsGetLost("C"),
	} {
		if err := sim.Run(1, time.Minute, func(w *sim.World) error {
			s := &workloads.Stage{Clock: w.Source(), Keys: []workloads.Key{{Name: "k"}, {Name: "l"}}, Interrupted: func() error { return nil }}
			return workloads.Script{Steps: []workloads.Step{step}}.Run(context.Background(), s)
		}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", step.Text, err, want)
		}
	}
}

func TestScriptsNeedLocksThatCanBeReentered(t *testing.T) {
	script := workloads.Script{Reenters: true}
	if err := script.Needs(locks.Spec{Name: "plain"}); err == nil || !strings.Contains(err.Error(), "lock plain cannot be re-entered") {
		t.Errorf("a plain lock: %v", err)
	}
	for _, ok := range []error{script.Needs(locks.Spec{Reenters: true}), workloads.Script{}.Needs(locks.Spec{})} {
		if ok != nil {
			t.Error(ok)
		}
	}
}
