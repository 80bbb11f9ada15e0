package checker

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// minimalCore checks of a violation of a model that the calls of its witness alone violate it,
// also if all others may have happened or not, and that none of them can be relaxed as well.
func minimalCore(t rapid.TB, events []histories.Event, model Model, res Result) {
	t.Helper()
	if res.Verdict != Fail {
		if len(res.Witness) > 0 || res.Window != nil {
			t.Fatalf("%v, with witness %v", res.Verdict, res.Witness)
		}
		return
	}
	d, err := model.datatype()
	if err != nil {
		t.Fatalf("%v", err)
	}
	actions, err := d.actions(events, &Result{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	key := events[res.Witness[0]].Key
	actions = slices.DeleteFunc(actions, func(x timedAction) bool { return x.key != key })
	named := func(x timedAction) bool { return slices.Contains(res.Witness, x.call) }
	var core []timedAction
	var culprit timedAction
	for _, x := range actions {
		if !named(x) {
			continue
		}
		if core = append(core, x); x.at == slices.Max(res.Witness) {
			culprit = x
		}
	}
	if len(core)*2 != len(res.Witness) {
		t.Fatalf("witness %v names more than the calls of %d actions", res.Witness, len(core))
	}
	if w := res.Window; w == nil || w.First != res.Witness[0] || w.Last != culprit.at {
		t.Errorf("window %+v, want events %d to %d", w, res.Witness[0], culprit.at)
	}
	var alone []histories.Event
	for i, e := range events {
		if slices.Contains(res.Witness, i) {
			e.Index = len(alone)
			alone = append(alone, e)
		}
	}
	if report := CheckModel(context.Background(), alone, model, Options{}); report.Verdict != Fail {
		t.Fatalf("witness %v alone is %v: %v\n%s\nof\n%s", res.Witness, report.Verdict, report.Results[0].Story, show(alone), show(events))
	}
	const unbounded = 1 << 40
	if _, got := d.relaxed(context.Background(), actions, culprit, named, unbounded); got != porcupine.Illegal {
		t.Fatalf("the other calls can explain witness %v\n%s", res.Witness, show(events))
	}
	for _, spared := range core {
		keep := func(x timedAction) bool { return named(x) && x.call != spared.call }
		if _, got := d.relaxed(context.Background(), actions, culprit, keep, unbounded); got == porcupine.Illegal {
			t.Fatalf("witness %v does not need the call of event %d\n%s", res.Witness, spared.call, show(events))
		}
	}
}

func TestCoresOfRegisters(t *testing.T) {
	wrong := rapid.Custom(func(r *rapid.T) []histories.Event {
		events := simulated(r)
		var reads []int
		for i, e := range events {
			if e.F == histories.Read && e.Type == histories.OK {
				reads = append(reads, i)
			}
		}
		if len(reads) > 0 {
			i := rapid.SampledFrom(reads).Draw(r, "wrong")
			events[i].Value = rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(r, "value")
		}
		return events
	})
	look := func(t rapid.TB, events []histories.Event) Verdict {
		report := CheckModel(context.Background(), events, Register, Options{})
		minimalCore(t, events, Register, report.Results[0])
		return report.Verdict
	}
	rapid.Check(t, func(r *rapid.T) { look(r, wrong.Draw(r, "history")) })
	found := 0
	for i := range 200 {
		if look(t, wrong.Example(i)) == Fail {
			found++
		}
	}
	if found < 20 {
		t.Errorf("%d of 200 are illegal, so this says little", found)
	}
}

// A counter's calls add up, so that a core may need all of them.
func TestCoresOfCounters(t *testing.T) {
	illegal := 0
	for i := range 500 {
		rng := rand.New(rand.NewPCG(20250105, uint64(i)))
		var events []histories.Event
		number := 0
		for range 1 + rng.IntN(12) {
			e := histories.Event{Process: 0, F: "add", Type: histories.Invoke, Value: "1"}
			answer := e
			answer.Type = histories.OK
			if rng.IntN(3) == 0 {
				e.F, e.Value, answer.F = histories.Read, "", histories.Read
				answer.Value = string('0' + rune(max(0, number%10-rng.IntN(2)*rng.IntN(3))))
			} else {
				number++
			}
			e.Index, answer.Index = len(events), len(events)+1
			events = append(events, e, answer)
		}
		report := CheckModel(t.Context(), events, Counter, Options{})
		if report.Verdict == Fail {
			illegal++
		}
		minimalCore(t, events, Counter, report.Results[0])
	}
	if illegal < 50 {
		t.Errorf("%d are illegal, so this says little", illegal)
	}
}

// TestCoresOfEtcd shrinks what is wrong in the logs of etcd that porcupine is tested with. The
// search may give up, but seldom.
func TestCoresOfEtcd(t *testing.T) {
	effort.Long(t)
	n, longest, givenUp := 0, 0, 0
	for log, linearizable := range etcdLogs(t) {
		if linearizable {
			continue
		}
		file, err := histories.ReadFile(log, false)
		if err != nil {
			t.Fatal(err)
		}
		report := CheckModel(t.Context(), file.Events, Register, unhurried())
		res := report.Results[0]
		if res.Verdict != Fail {
			t.Errorf("%s: %v, want %v", filepath.Base(log), report, Fail)
		}
		if n++; strings.Contains(res.Story, "The last before it that could") {
			givenUp++
			continue
		}
		longest = max(longest, len(res.Witness))
		if len(res.Witness) > 12 {
			t.Errorf("%s: %d events are no few: %s", filepath.Base(log), len(res.Witness), res.Story)
		}
		minimalCore(t, file.Events, Register, res)
	}
	if t.Logf("%d logs, at most %d events each, %d given up", n, longest, givenUp); givenUp > 2 {
		t.Error("too many are given up")
	}
}

func TestMinimize(t *testing.T) {
	for size := range 20 {
		for i := range 200 {
			rng := rand.New(rand.NewPCG(uint64(size), uint64(i)))
			// Proof is every set with one of some sets.
			var proofs [][]int
			for range 1 + rng.IntN(3) {
				var proof []int
				for place := range size {
					if rng.IntN(3) == 0 {
						proof = append(proof, place)
					}
				}
				proofs = append(proofs, proof)
			}
			proves := func(kept []bool) bool {
				return slices.ContainsFunc(proofs, func(p []int) bool {
					return !slices.ContainsFunc(p, func(place int) bool { return !kept[place] })
				})
			}
			kept := slices.Repeat([]bool{true}, size)
			minimize(kept, proves)
			if !proves(kept) {
				t.Fatalf("%v is no proof: %v", kept, proofs)
			}
			for place := range kept {
				if kept[place] {
					kept[place] = false
					if proves(kept) {
						t.Fatalf("place %d can be spared: %v", place, proofs)
					}
					kept[place] = true
				}
			}
		}
	}
}
