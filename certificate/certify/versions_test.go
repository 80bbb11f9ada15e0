package certify_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/certificate"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/effort"
	"github.com/lockbench/lockbench/histories"
)

// accessed is what a few clients, each with one attempt, recorded of reads and writes of a register
// that accepts everything.
func accessed(r *rand.Rand, clients, calls int) []histories.Event {
	var events []histories.Event
	free := make([]time.Duration, clients) // when the client's last call was answered
	process, tokens := make([]int, clients), make([]int64, clients)
	for i := range clients {
		process[i] = i
		if r.IntN(2) == 0 {
			tokens[i] = 1 + r.Int64N(3)
		}
		e := histories.Event{Process: i, Worker: i, F: histories.Acquire, Key: "k", Attempt: uint64(i + 1), Time: time.Duration(2 * i)}
		answer := e
		e.Type, answer.Type, answer.Time, answer.Token = histories.Invoke, histories.OK, e.Time+1, tokens[i]
		events, free[i] = append(events, e, answer), answer.Time
	}
	now, version := time.Duration(2*clients), int64(0)
	for range calls {
		i := r.IntN(clients)
		now = max(now, free[i]+1) + time.Duration(1+r.IntN(3)) // the register's instant
		e := histories.Event{Process: process[i], Worker: i, F: histories.Read, Key: "k", Attempt: uint64(i + 1), Token: tokens[i], Type: histories.Invoke}
		if r.IntN(2) == 0 {
			e.F = histories.Write
		}
		e.Time = free[i] + 1 + time.Duration(r.Int64N(int64(now-free[i])))
		answer := e
		answer.Type, answer.Version, answer.Time = histories.OK, version, now+time.Duration(r.IntN(10))
		if e.F == histories.Write {
			version++
		}
		if r.IntN(12) == 0 {
			answer.Type, answer.Version, process[i] = histories.Info, 0, process[i]+clients
		}
		events, free[i] = append(events, e, answer), answer.Time
	}
	slices.SortStableFunc(events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range events {
		events[i].Index = i
	}
	return events
}

// TestVersions: resource safety is proven to hold only where it does, and mostly where it does.
func TestVersions(t *testing.T) {
	const seed = 20251123
	passed, proven, failed := 0, 0, 0
	for n := range uint64(effort.Count(1_000, 50_000)) {
		r := rand.New(rand.NewPCG(seed, n))
		events := accessed(r, 1+r.IntN(3), 2+r.IntN(8))
		history := written(t, events)
		verdict := checker.Check(t.Context(), events, checker.Options{Properties: []checker.Property{checker.ResourceSafety}}).Result(checker.ResourceSafety).Verdict
		_, errs, err := certificate.Prove(bytes.NewReader(history), certificate.Certificate{Proven: []certificate.Verdict{
			{Rule: "resource-safety", Verdict: certificate.Pass, Proof: certificate.ByVersions},
		}})
		if err != nil {
			t.Fatal(err)
		}
		switch verdict {
		case checker.Fail:
			failed++
			if errs[0] == nil {
				t.Errorf("history %d of seed %d fails, and is proven to pass:\n%s", n, seed, history)
			}
		case checker.Pass:
			passed++
			if errs[0] == nil {
				proven++
			}
		}
	}
	t.Logf("%d fails; proven %d passes of %d", failed, proven, passed)
	if failed == 0 || 10*proven < 7*passed || passed == 0 {
		t.Errorf("%d fails, and %d passes of %d are proven, want some and 7 of 10", failed, proven, passed)
	}
}
