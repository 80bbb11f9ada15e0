package harness_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// TestCommandsThatAServerLacks: a lock that needs a command which a server does not know is not played
// there, and nothing is said of it.
func TestCommandsThatAServerLacks(t *testing.T) {
	locktest.NeedRedis(t)
	for _, needs := range [][]locks.Command{
		nil, {{Name: "SET", Since: "Redis 1.0"}}, {{Name: "SET", Since: "Redis 1.0"}, {Name: "LOCKBENCH.NONE", Since: "Redis 99"}},
	} {
		cfg := onProcesses(t, harness.Load{Clients: 2, Rounds: 1}, "setnx-px-lua")
		cfg.Lock.Commands, cfg.Out = needs, t.TempDir()
		res, err := harness.Run(t.Context(), cfg)
		if len(needs) < 2 {
			if err != nil || len(res.Events) == 0 {
				t.Errorf("%v: %d events, %v", needs, len(res.Events), err)
			}
			continue
		}
		if unfit, ok := errors.AsType[*harness.UnfitError](err); !ok || !harness.NotApplicable(err) ||
			!strings.Contains(unfit.Error(), "lock setnx-px-lua needs LOCKBENCH.NONE (Redis 99)") || len(res.Events) > 0 || res.Dir != "" {
			t.Errorf("%v: %d events in %q, %v", needs, len(res.Events), res.Dir, err)
		}
	}
}
