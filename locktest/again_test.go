package locktest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/scenarios"
)

// told notes what a test is told, and goes on.
type told struct {
	testing.TB

	skipped, failed bool
}

func (t *told) Helper()               {}
func (t *told) Skip(...any)           { t.skipped = true }
func (t *told) Errorf(string, ...any) { t.failed = true }

// TestLocksThatWait: on real servers a lock that seems to wait where a scenario lets it try once is played again, and nothing is said of one
// that always seems to. In virtual time it does wait, and the scenario does not apply.
func TestLocksThatWait(t *testing.T) {
	waits := &player.StepError{Err: &player.UnplayableError{Why: "it waits", Slow: true}}
	const ms = time.Millisecond
	for name, tc := range map[string]struct {
		backend         harness.Backend
		times           int // in which it seems to wait
		leases          []time.Duration
		skipped, failed bool
	}{
		"at no time":      {harness.Process(), 0, []time.Duration{100 * ms}, false, false},
		"once":            {harness.Process(), 1, []time.Duration{100 * ms, 100 * ms}, false, false},
		"always":          {harness.Process(), 9, []time.Duration{100 * ms, 100 * ms, 200 * ms, 400 * ms}, false, true},
		"in virtual time": {harness.Embedded(), 9, []time.Duration{100 * ms}, true, false},
	} {
		var leases []time.Duration
		r := &test{options: options{backend: tc.backend}, play: func(_ context.Context, cfg harness.Config) (res harness.Result, err error) {
			if leases = append(leases, cfg.TTL); len(leases) <= tc.times {
				err = waits
			}
			return res, err
		}}
		cfg := harness.Config{Test: harness.Test{TTL: 100 * ms}}
		cfg.Backend, cfg.Lock.Masters = tc.backend, 1
		_, _, err := r.settled(t.Context(), scenarios.Scenario{}, cfg)
		saw := &told{TB: t}
		if err != nil {
			r.excuse(saw, err)
		}
		failed := saw.failed && !saw.skipped // a skip ends a test
		if !slices.Equal(leases, tc.leases) || saw.skipped != tc.skipped || failed != tc.failed {
			t.Errorf("%s: leases of %v, skipped %v, failed %v; want %v, %v, %v", name, leases, saw.skipped, failed, tc.leases, tc.skipped, tc.failed)
		}
	}
}
