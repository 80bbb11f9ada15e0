package harness_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestWrongClocks walks locks and guards through clocks that jump: what trusts them breaks,
// and what does not survives the same steps.
func TestWrongClocks(t *testing.T) {
	// B's clock is ahead by more than A's lease.
	ahead := script(t, 2, `A acquire; A read; start client-clock B by 3T; B acquire; B read; A write; B write; A release; B release`)
	// A's clock goes back before its lease ends, so that the end never comes for A.
	back := script(t, 2, `A acquire; A read; start client-clock A by -3T; wait lease-ends; B acquire; B read; B write; A write; A release; B release`)
	right := back
	right.Steps = slices.Delete(slices.Clone(back.Steps), 2, 3)
	// The server's clock jumps past A's lease.
	server := script(t, 2, `A acquire; A read; start clock by 2T; B acquire; B read; B write; A write; A release; B release`)
	const pass, fail = checker.Pass, checker.Fail
	for name, tc := range map[string]struct {
		lock        string
		guard       resource.Guard
		script      player.Script
		lease, safe checker.Verdict
	}{
		"timestamps, B ahead (P06)":     {"setnx-timestamp-del", resource.None, ahead, fail, fail},
		"GETSET, B ahead (P06)":         {"getset", resource.None, ahead, fail, fail},
		"timestamp hash, B ahead (P44)": {"rw-hash-timestamp", resource.None, ahead, fail, fail},
		"Lua, B ahead":                  {"setnx-px-lua", resource.None, ahead, pass, pass},
		"guard elapsed, A set back":     {"setnx-px-lua", resource.Elapsed, back, pass, fail},
		"guard elapsed, a right clock":  {"setnx-px-lua", resource.Elapsed, right, pass, pass},
		"guard fence, A set back":       {"fenced", resource.Fence, back, pass, pass},
		"server ahead (P52)":            {"setnx-px-lua", resource.None, server, fail, fail},
		"server ahead, guard fence":     {"fenced", resource.Fence, server, fail, pass},
		"one server of five ahead":      {"redlock", resource.None, server, pass, pass},
	} {
		for _, backend := range []harness.Backend{harness.Embedded(), harness.Process()} {
			t.Run(backend.Name+"/"+name, func(t *testing.T) {
				if !backend.Virtual() {
					locktest.NeedRedis(t)
					t.Parallel()
				}
				cfg := harness.Config{Deployment: harness.Deployment{Backend: backend}, Test: harness.Test{
					Name: "clocks", Workload: tc.script, Lock: find(t, tc.lock), Guard: tc.guard,
					TTL: 2 * time.Second, Seed: 1, Clocks: true,
				}}
				res := decides(t, cfg, checker.LeaseExclusion, checker.ResourceSafety)
				for p, want := range map[checker.Property]checker.Verdict{checker.LeaseExclusion: tc.lease, checker.ResourceSafety: tc.safe} {
					if got := res.Report.Result(p); got.Verdict != want {
						t.Errorf("%s is %v, want %v: %s", p, got.Verdict, want, got.Story)
					}
				}
			})
		}
	}
}
