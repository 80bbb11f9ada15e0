package harness_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
)

// TestScriptIsToldToBeLate has the harness take its time after it has seen that a command is held up. That is told if the lock sent the command
// by itself and a call comes next, and not if the script lets the time pass.
func TestScriptIsToldToBeLate(t *testing.T) {
	const slow = 400 * time.Millisecond
	for _, tc := range []struct {
		name, steps string
		slow        time.Duration
		from, to    time.Duration // what is told is between them; both 0: nothing is
	}{
		{"a call is late", "A acquire; at A extends: hold; wait held A; A release; let-go A", slow, slow, slow + 100*time.Millisecond},
		{"nothing is slow", "A acquire; at A extends: hold; wait held A; A release; let-go A", 0, time.Millisecond, 50 * time.Millisecond},
		{"the script waits after it", "A acquire; at A extends: hold; wait held A; sleep 0.1T; A release; let-go A", slow, 0, 0},
		{"the script waits before it", "A acquire; at A extends: hold; sleep 0.5T; wait held A; A release; let-go A", slow, 0, 0},
		{"no call comes next", "A acquire; at A extends: hold; wait held A; let-go A; A release", slow, 0, 0},
		{"a call sent the command", "A acquire; at A frees: hold; A release &; wait held A; B acquire; let-go A", slow, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var told []time.Duration
			cfg := harness.Config{Test: harness.Test{
				Name: "late", Lock: find(t, "watchdog"), TTL: 3 * time.Second, Seed: 1, Workload: script(t, 2, tc.steps),
			}}
			cfg.Seams.Stage = func(s *player.Stage) {
				s.Late = func(d time.Duration) { told = append(told, d) }
				s.Done = func(ctx context.Context, step schedule.Step) error {
					if step.Verb == schedule.Wait {
						return s.Clock.Sleep(ctx, tc.slow)
					}
					return nil
				}
			}
			if _, err := harness.Run(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			if tc.to == 0 && len(told) > 0 || tc.to > 0 && (len(told) != 1 || told[0] < tc.from || told[0] > tc.to) {
				t.Errorf("told %v, want once from %v to %v, or never if that is 0", told, tc.from, tc.to)
			}
		})
	}
}
