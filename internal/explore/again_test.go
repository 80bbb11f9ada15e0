package explore

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
)

// TestSettled: on real servers a run is played again, with longer leases at last, if the lock seems to wait where it is to try once, or if the
// machine stood still and something is unknown. What broke a property is told at once.
func TestSettled(t *testing.T) {
	waits := &player.StepError{Err: &player.UnplayableError{Why: "it waits", Slow: true}}
	never := &player.StepError{Err: &player.UnplayableError{Why: "no renewal"}}
	still := Outcome{Stalled: true, Unknown: []string{string(checker.Ownership)}}
	broken := still
	broken.Fails = []checker.Property{checker.Ownership}
	for name, tc := range map[string]struct {
		out   Outcome
		err   error
		times int // in which it comes out so
		plays int
		want  error
	}{
		"sound":                 {Outcome{}, nil, chances, 1, nil},
		"waits once":            {Outcome{}, waits, 1, 2, nil},
		"always waits":          {Outcome{}, waits, chances, chances, waits},
		"never comes to a step": {Outcome{}, never, chances, 1, never},
		"stood still once":      {still, nil, 1, 2, nil},
		"always stands still":   {still, nil, chances, chances, errStalled},
		"broke meanwhile":       {broken, nil, chances, 1, nil},
	} {
		cfg := harness.Config{Test: harness.Test{TTL: time.Second}}
		cfg.Backend, cfg.Lock.Masters = harness.Process(), 1
		var leases []time.Duration
		_, err := settled(cfg, func(cfg harness.Config) (Outcome, error) {
			if leases = append(leases, cfg.TTL); len(leases) > tc.times {
				return Outcome{}, nil
			}
			return tc.out, tc.err
		})
		want := []time.Duration{time.Second, time.Second, 2 * time.Second}[:tc.plays]
		if !errors.Is(err, tc.want) || !slices.Equal(leases, want) {
			t.Errorf("%s: %v after leases of %v, want %v after %v", name, err, leases, tc.want, want)
		}
	}
}
