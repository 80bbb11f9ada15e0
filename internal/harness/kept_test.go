package harness_test

import (
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/scenarios"
)

// TestRenamedLocks checks that a lock is judged alike wherever a worker keeps it, whether the
// worker says so or not.
func TestRenamedLocks(t *testing.T) {
	locktest.NeedRedis(t)
	for _, opt := range []worker.Options{
		{Prefix: "lock:"},
		{Prefix: "lock:", Silent: true},
		{HashTag: true, Database: 3, First: "PTTL"},
		{HashTag: true, Database: 3, First: "PTTL", Silent: true},
	} {
		for pitfall, names := range map[string][]string{
			"delete-without-check":   {"setnx-px-del", "setnx-px-lua"},
			"get-del-race":           {"setnx-px-get-del"},
			"acquire-reply-lost":     {"setnx-px-lua", "fenced"},
			"late-set-after-cleanup": {"setnx", "lua-uuid-repaired"},
			"wrongtype-collision":    {"reentrant-hash"},
		} {
			for _, name := range names {
				t.Run(fmt.Sprintf("%s, %s, %+v", pitfall, name, opt), func(t *testing.T) {
					t.Parallel()
					s, err := scenarios.Find(pitfall)
					if err != nil {
						t.Fatal(err)
					}
					asExpected(t, employ(t, scenario(t, s, s.Case(name, resource.None), harness.Process()), renamed(t, opt)))
				})
			}
		}
	}
}

// TestCausesWithoutAGrant checks that the cause is derived of a worker's lock which nobody was ever granted, wherever it is kept.
func TestCausesWithoutAGrant(t *testing.T) {
	locktest.NeedRedis(t)
	for _, opt := range []worker.Options{{Prefix: "lock:"}, {Prefix: "lock:", Silent: true}} {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Find("crash-between-setnx-expire")
			if err != nil {
				t.Fatal(err)
			}
			res := asExpected(t, employ(t, scenario(t, s, s.Case("setnx-expire", resource.None), harness.Process()), renamed(t, opt)))
			if len(res.Causes) != 1 || res.Causes[0].Kind != checker.NoExpiry {
				t.Errorf("%+v, want that the key has no time to live", res.Causes)
			}
		})
	}
}

// TestStepsThatMiss checks that a scenario whose steps do not hit the lock passes nothing: the
// lock is kept under another name than it says.
func TestStepsThatMiss(t *testing.T) {
	for pitfall, lock := range map[string]string{
		"delete-without-check":       "setnx-px-del",
		"get-del-race":               "setnx-px-get-del",
		"acquire-reply-lost":         "setnx-px-lua",
		"late-set-after-cleanup":     "setnx",
		"gc-pause-lease-expiry":      "setnx-px-lua",
		"renewal-cut-off":            "watchdog",
		"wrongtype-collision":        "reentrant-hash",
		"evicted-lock":               "setnx-px-lua",
		"crash-between-setnx-expire": "setnx-expire",
	} {
		t.Run(pitfall, func(t *testing.T) {
			s, err := scenarios.Find(pitfall)
			if err != nil {
				t.Fatal(err)
			}
			cfg := scenario(t, s, s.Case(lock, resource.None), harness.Embedded())
			cfg.Lock.Keys = func(key string) []string { return []string{"elsewhere:" + key} }
			res, err := harness.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range res.Report.Results {
				if r.Verdict == checker.Pass {
					t.Errorf("%s passes: %s", r.Property, r.Story)
				}
			}
			if len(res.Report.Vacuous) == 0 {
				t.Error("nobody says which step missed the lock")
			}
		})
	}
}
