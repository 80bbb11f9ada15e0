package harness_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/scenarios"
)

// TestSnapshotsChangeNothing plays every scenario with and without snapshots: a look from
// outside must not show in the history, which is all that is judged, or in what crossed the
// wire.
func TestSnapshotsChangeNothing(t *testing.T) {
	for _, s := range scenarios.All() {
		for _, c := range s.Cases[:min(effort.Count(2, 2), len(s.Cases))] { // the broken lock and one more
			s, err := s.With(c.Remedy)
			if err != nil || s.Gaps[histories.BackendEmbedded] != "" {
				continue // see TestCatalogueIsSound and TestGaps
			}
			if find(t, c.Lock).Unseeded != "" {
				continue // two runs differ anyway
			}
			t.Run(fmt.Sprintf("%s/%v", s.Name, c), func(t *testing.T) {
				t.Parallel()
				if s.Keys > 100 {
					effort.Long(t)
				}
				cfg := scenario(t, s, c, harness.Embedded())
				cfg.Seed = 7
				without := run(t, cfg)
				cfg.Snapshots = true
				with := run(t, judgedBefore(cfg, without))
				if diff := cmp.Diff(without.Events, with.Events); diff != "" {
					t.Errorf("the history (-without +with):\n%s", diff)
				}
				if diff := cmp.Diff(without.Exchanges, with.Exchanges); diff != "" {
					t.Errorf("what crossed the wire (-without +with):\n%s", diff)
				}
				if len(without.Snapshots) != 0 {
					t.Error("snapshots that nobody asked for")
				}
				var want, got []schedule.Step // a rule alone changes nothing
				for _, step := range append(slices.Clone(s.Script.Steps), schedule.Step{}) {
					if step.Verb != schedule.At {
						want = append(want, step)
					}
				}
				for _, shot := range with.Snapshots {
					got = append(got, shot.Step)
				}
				if end := len(got) - 1; end > 0 && slices.ContainsFunc(with.Events, func(e histories.Event) bool { return e.F == histories.Hung }) {
					want = append(want[:min(end, len(want)-2)], schedule.Step{}) // the step that did not return is not done
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("snapshots of (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestSnapshots checks that snapshots show what servers hold at that moment: the key of a
// client that died before it could set the TTL, and that of a lease.
func TestSnapshots(t *testing.T) {
	for _, backend := range []harness.Backend{harness.Embedded(), harness.Process()} {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			if !backend.Virtual() {
				locktest.NeedRedis(t)
			}
			s, err := scenarios.Find("P02")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []scenarios.Case{s.Broken(), s.Case("setnx-px-lua", resource.None)} {
				cfg := scenario(t, s, c, backend)
				cfg.Snapshots = true
				album := run(t, cfg).Snapshots
				first := album[1] // after its wait for the held reply
				key := first.Nodes[0].Keys[0]
				if !key.Exists || key.Value == "" || !first.Nodes[0].Primary || !first.Nodes[0].Alive {
					t.Fatalf("%s: the first command has been executed, and there is %+v", c.Lock, first.Nodes)
				}
				if forever := key.TTL == histories.NoTTL; forever != (c.Lock == "setnx-expire") {
					t.Errorf("%s: after the first command the TTL is %v", c.Lock, key.TTL)
				}
				if x := first.Exchanges; len(x) != 1 || x[0].Replied != 0 || x[0].Note != "reply held" {
					t.Errorf("%s: the reply is held, and there is %+v", c.Lock, x)
				}
				// Only the client's own call and the fault had been recorded by then.
				if first.Events != 2 {
					t.Errorf("%s: %d events had been recorded, want 2", c.Lock, first.Events)
				}
				last := album[len(album)-1]
				if last.Step.Verb != "" || last.Nodes[0].Keys[0].Exists != (c.Lock == "setnx-expire") {
					t.Errorf("%s: at the end there is %+v", c.Lock, last.Nodes)
				}
				register := last.Nodes[len(last.Nodes)-1]
				written := len(register.Keys[0].Fields) > 0
				if register.Role != cluster.Register || written != (c.Lock == "setnx-px-lua") {
					t.Errorf("%s: the register holds %+v", c.Lock, register)
				}
			}
		})
	}
}

// TestSnapshotsOfTheDead checks that a node that is dead is told as such.
func TestSnapshotsOfTheDead(t *testing.T) {
	s, err := scenarios.Find("P14")
	if err != nil {
		t.Fatal(err)
	}
	cfg := scenario(t, s, s.Broken(), harness.Embedded())
	cfg.Snapshots = true
	for _, shot := range run(t, cfg).Snapshots {
		primary := "master"
		switch shot.Step.What {
		case "kill":
		case "promote":
			primary = "replica"
		default:
			continue
		}
		for _, n := range shot.Nodes {
			if n.Alive != (n.Name != "master") || n.Primary != (n.Name == primary) {
				t.Errorf("when %s: %s is alive %v, primary %v", shot.Step, n.Name, n.Alive, n.Primary)
			}
		}
	}
}
