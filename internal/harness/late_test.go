package harness_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
)

// TestScriptIsToldToBeLate has the harness take its time after one kind of step. That is told if a command is held up that the lock sent by
// itself, and a call comes next; or if a lease ends meanwhile and no step lets time pass; and not if the script does.
func TestScriptIsToldToBeLate(t *testing.T) {
	const slow = 400 * time.Millisecond
	for _, tc := range []struct {
		name, lock, steps string
		after             schedule.Verb
		slow              time.Duration
		from, to          time.Duration // what is told once is between them; both 0: nothing is
		lease             time.Duration // that it is told of
	}{
		{"a call is late", "watchdog", "A acquire; at A extends: hold; wait held A; A release; let-go A", schedule.Wait, slow, slow, slow + 100*time.Millisecond, 3 * time.Second},
		{"nothing is slow", "watchdog", "A acquire; at A extends: hold; wait held A; A release; let-go A", schedule.Wait, 0, time.Millisecond, 50 * time.Millisecond, 3 * time.Second},
		{"the script waits after it", "watchdog", "A acquire; at A extends: hold; wait held A; sleep 0.1T; A release; let-go A", schedule.Wait, slow, 0, 0, 0},
		{"the script waits before it", "watchdog", "A acquire; at A extends: hold; sleep 0.5T; wait held A; A release; let-go A", schedule.Wait, slow, 0, 0, 0},
		{"no call comes next", "watchdog", "A acquire; at A extends: hold; wait held A; let-go A; A release", schedule.Wait, slow, 0, 0, 0},
		{"a call sent the command", "watchdog", "A acquire; at A frees: hold; A release &; wait held A; B acquire; let-go A", schedule.Wait, slow, 0, 0, 0},

		{"a lease ends that is shorter than its TTL", "rw-hash-timestamp-fixed", "A acquire shared; A read; B acquire; A read; A release", schedule.Read, time.Second, time.Second, 1100 * time.Millisecond, time.Second},
		{"a lease ends that began with another", "rw-hash-timestamp-fixed", "A B meet; A read; A release", schedule.Read, time.Second, time.Second, 1100 * time.Millisecond, time.Second},
		{"a lease ends", "setnx-px-lua", "A acquire; A read; A release", schedule.Read, 3 * time.Second, 3 * time.Second, 3100 * time.Millisecond, 3 * time.Second},
		{"a lease ends before its release", "setnx-px-lua", "A acquire; A release", schedule.Acquire, 3 * time.Second, 3 * time.Second, 3100 * time.Millisecond, 3 * time.Second},
		{"no lease ends", "rw-hash-timestamp-fixed", "A acquire shared; A read; B acquire; A read; A release", schedule.Read, slow, 0, 0, 0},
		{"a lease ends that is renewed", "watchdog", "A acquire; A read; A release", schedule.Read, 6 * time.Second, 0, 0, 0},
		{"the script lets time pass before", "setnx-px-lua", "A acquire; sleep 0.1T; A read; A release", schedule.Read, 3 * time.Second, 0, 0, 0},
		{"the script lets it end", "setnx-px-lua", "A acquire; wait lease-ends; A read; A release", schedule.Read, 0, 0, 0, 0},
		{"an acquire lets it end", "setnx-px-lua", "A acquire; B acquire eventually; A read; B read", schedule.Read, 3 * time.Second, 0, 0, 0},
		{"a call is in the background", "setnx-px-lua", "A acquire; A read &; A read; A release", schedule.Read, 3 * time.Second, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			type told struct{ d, lease time.Duration }
			var all []told
			cfg := harness.Config{Test: harness.Test{
				Name: "late", Lock: find(t, tc.lock), TTL: 3 * time.Second, Seed: 1, Workload: script(t, 2, tc.steps),
			}}
			cfg.Seams.Stage = func(s *player.Stage) {
				s.Late = func(d, lease time.Duration) { all = append(all, told{d, lease.Round(10 * time.Millisecond)}) }
				slept := false
				s.Done = func(ctx context.Context, step schedule.Step) error {
					if step.Verb == tc.after && !slept {
						slept = true
						return s.Clock.Sleep(ctx, tc.slow)
					}
					return nil
				}
			}
			if _, err := harness.Run(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			if tc.to == 0 && len(all) > 0 || tc.to > 0 && (len(all) != 1 || all[0].d < tc.from || all[0].d > tc.to || all[0].lease != tc.lease) {
				t.Errorf("told %v, want once from %v to %v of a lease of %v, or never if that is 0", all, tc.from, tc.to, tc.lease)
			}
		})
	}
}
