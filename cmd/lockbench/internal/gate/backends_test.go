package gate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// differs are the locks of which virtual time and real servers cannot say the same, and why.
func differs() map[string]string {
	return map[string]string{
		"exists-set":        "whether two clients look before either sets is chance on real servers, and in virtual time each command has an instant of its own",
		"extend-seconds":    "its lease of 3 ms in virtual time, and 1 ms on real servers, ends after the other has asked or before (P73)",
		"redsync-fail-fast": "a SET that is still on its way when an acquire is refused lands after the clean-up in virtual time, and on real servers mostly before it (P27)",
	}
}

// TestTwoBackendsOneVerdict puts locks through pitfalls in virtual time and on real servers: what
// breaks on one breaks on the other. At night it does so with every lock and every pitfall.
func TestTwoBackendsOneVerdict(t *testing.T) {
	locktest.NeedRedis(t)
	only, some := []string{"P02", "P07", "P08", "P14", "P26", "P55"}, []string{"setnx-expire", "getset", "setnx-px-del", "setnx-px-lua", "redlock"}
	if effort.Nightly() {
		only, some = nil, nil
	}
	var all []locks.Spec
	for _, l := range libraries.Catalogue() {
		if some == nil || slices.Contains(some, l.Name) {
			all = append(all, l)
		}
	}
	virtual := drawn(t, harness.Embedded(), only, all, 1)
	compared, suspects := 0, map[string][]string{} // pitfalls by lock
	unlike := func(virtual, onServers map[string]gate.Cell, each func(name string, v, r gate.Cell)) {
		for name, r := range onServers {
			if v := virtual[name]; conclusive(v) && conclusive(r) {
				compared++
				if !alike(v, r) {
					each(name, v, r)
				}
			}
		}
	}
	unlike(virtual, drawn(t, harness.Process(), only, all, 1), func(_ string, _, r gate.Cell) {
		suspects[r.Lock] = append(suspects[r.Lock], r.ID)
	})
	if compared < len(all)*2 {
		t.Errorf("%d pairs could be compared of %d locks, too few to say anything", compared, len(all))
	}
	// What real time did by chance it does not do each time.
	for lock, pitfalls := range suspects {
		one := slices.DeleteFunc(slices.Clone(all), func(l locks.Spec) bool { return l.Name != lock })
		always := map[string]int{}
		const seeds = 3
		for seed := uint64(1); seed <= seeds; seed++ {
			unlike(virtual, drawn(t, harness.Process(), pitfalls, one, seed), func(name string, v, r gate.Cell) {
				if always[name]++; always[name] == seeds && differs()[r.Lock] == "" {
					t.Errorf("%s: in virtual time %s %v, on real servers %s %v", name, v.State, v.Violated, r.State, r.Violated)
				}
			})
		}
	}
}

// drawn is the matrix of a backend, by pitfall and lock.
func drawn(t *testing.T, backend harness.Backend, only []string, all []locks.Spec, seed uint64) map[string]gate.Cell {
	t.Helper()
	plan, err := gate.NewMatrix(gate.Options{Backend: backend, Only: only, Seed: seed}, all)
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Play(t.Context(), harness.Jobs(t.Context(), backend, false), gate.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := plan.MatrixOf(res, all)
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]gate.Cell{}
	for _, c := range m.Cells {
		cells[fmt.Sprintf("%s %s", c.ID, c.Lock)] = c
	}
	return cells
}

func conclusive(c gate.Cell) bool { return c.State == gate.Held || c.State == gate.IsBroken }

func alike(a, b gate.Cell) bool {
	sorted := func(ps []checker.Property) []checker.Property { return slices.Sorted(slices.Values(ps)) }
	return a.State == b.State && slices.Equal(sorted(a.Violated), sorted(b.Violated))
}
