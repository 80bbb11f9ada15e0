package harness_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/locks/locktest"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/workloads"
)

// TestWrongClocks walks locks and guards through clocks that jump: what trusts them breaks,
// and what does not survives the same steps.
func TestWrongClocks(t *testing.T) {
	// B's clock is ahead by more than A's lease.
	ahead := workloads.Script{Cast: 2, Steps: []workloads.Step{
		workloads.Acquire("A"), workloads.Read("A"),
		workloads.ClientClockJumps("B", 3),
		workloads.Acquire("B"), workloads.Read("B"),
		workloads.Write("A"), workloads.Write("B"),
		workloads.Release("A"), workloads.Release("B"),
	}}
	// A's clock goes back before its lease ends, so that the end never comes for A.
	back := workloads.Script{Cast: 2, Steps: []workloads.Step{
		workloads.Acquire("A"), workloads.Read("A"),
		workloads.ClientClockJumps("A", -3),
		workloads.LeaseEnds(),
		workloads.Acquire("B"), workloads.Read("B"), workloads.Write("B"),
		workloads.Write("A"),
		workloads.Release("A"), workloads.Release("B"),
	}}
	right := back
	right.Steps = slices.Delete(slices.Clone(back.Steps), 2, 3)
	// The server's clock jumps past A's lease.
	server := workloads.Script{Cast: 2, Steps: []workloads.Step{
		workloads.Acquire("A"), workloads.Read("A"),
		workloads.ServerClockJumps(0, 2),
		workloads.Acquire("B"), workloads.Read("B"), workloads.Write("B"),
		workloads.Write("A"),
		workloads.Release("A"), workloads.Release("B"),
	}}
	const pass, fail = checker.Pass, checker.Fail
	for name, tc := range map[string]struct {
		lock        string
		guard       resource.Guard
		script      workloads.Script
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
		for _, backend := range []string{harness.Embedded, harness.Process} {
			t.Run(backend+"/"+name, func(t *testing.T) {
				if backend == harness.Process {
					locktest.NeedRedis(t)
					t.Parallel()
				}
				res := run(t, harness.Config{
					Name: "clocks", Workload: tc.script, Lock: find(t, tc.lock), Guard: tc.guard, Backend: backend,
					TTL: 2 * time.Second, Seed: 1, Clocks: true,
				})
				for p, want := range map[checker.Property]checker.Verdict{checker.LeaseExclusion: tc.lease, checker.ResourceSafety: tc.safe} {
					if got := res.Report.Result(p); got.Verdict != want {
						t.Errorf("%s is %v, want %v: %s", p, got.Verdict, want, got.Story)
					}
				}
			})
		}
	}
}
