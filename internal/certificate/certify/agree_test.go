package certify_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestAgreement: the judges and the verifier, which share no code but what reads histories, say the same of damaged histories:
// what a judge passes is proven to pass, what it fails is proven to fail, and nothing else is.
func TestAgreement(t *testing.T) {
	const seed = 20251124
	corpus := corpus(t)
	verdicts := make(map[checker.Verdict]int)
	for n := range uint64(effort.Count(1_500, 200_000)) {
		r := rand.New(rand.NewPCG(seed, n))
		events := damaged(r, source(r, corpus))
		if histories.Validate(events) != nil {
			continue
		}
		opt := checker.Options{Masters: r.IntN(4), Overtaking: 1 + r.IntN(2), SilentRelease: r.IntN(6) == 0}
		if r.IntN(4) == 0 {
			opt.Poll = 10 * time.Millisecond
		}
		report := checker.Check(t.Context(), events, opt)
		if len(report.HarnessErrors) > 0 {
			continue // a resource is broken
		}
		history := written(t, events)
		found, err := certificate.Examine(bytes.NewReader(history), certify.Terms(opt))
		if err != nil {
			t.Fatalf("history %d of seed %d: %v\n%s", n, seed, err, history)
		}
		for _, res := range report.Results {
			verdicts[res.Verdict]++
			fails, passes := found.Fails(string(res.Property), certificate.BySearch, 1), found.Passes(string(res.Property), certificate.BySearch)
			switch {
			case res.Verdict == checker.Pass && passes != nil,
				res.Verdict == checker.Fail && (passes == nil || len(fails) == 0),
				res.Verdict == checker.Unknown && len(fails) > 0 && len(report.Vacuous)+len(report.Disturbed) == 0:
				t.Errorf("history %d of seed %d: %s is %v, %q; found %v, %v\n%+v\n%s", n, seed, res.Property, res.Verdict, res.Story, fails, passes, opt, history)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("seed %d: %v", seed, verdicts)
	if verdicts[checker.Pass] < 100 || verdicts[checker.Fail] < 100 {
		t.Errorf("%v verdicts, want 100 of each at least", verdicts)
	}
}

func corpus(t *testing.T) (all [][]histories.Event) {
	t.Helper()
	files, err := filepath.Glob("../../../checker/testdata/*.jsonl")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		read, err := histories.ReadFile(file, false)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, read.Events)
	}
	return all
}

// source is a history of the corpus, or one that is played.
func source(r *rand.Rand, corpus [][]histories.Event) []histories.Event {
	switch r.IntN(4) {
	case 0:
		return played(r, 2+r.IntN(3), 4+r.IntN(20), r.IntN(2) == 0)
	case 1:
		return accessed(r, 1+r.IntN(3), 2+r.IntN(8))
	}
	return slices.Clone(corpus[r.IntN(len(corpus))])
}

// damaged changes a few things of a history. What it breaks by that is none any more.
func damaged(r *rand.Rand, events []histories.Event) []histories.Event {
	for range r.IntN(4) {
		i := r.IntN(len(events))
		e := &events[i]
		switch r.IntN(9) {
		case 8: // of two keys
			odd := r.Uint64N(2)
			for j := range events {
				if events[j].Attempt%2 == odd && events[j].Key != "" && events[j].F != histories.Audit {
					events[j].Key = "other"
				}
			}
		case 0: // another answer
			if e.Type != histories.Invoke && !e.Single() {
				e.Type = []histories.Type{histories.OK, histories.Fail, histories.Info}[r.IntN(3)]
			}
		case 1: // a call is not there
			events = without(events, i)
		case 2: // no answer
			if e.Type != histories.Invoke {
				events = slices.Delete(events, i, i+1)
			}
		case 3:
			e.TTL = time.Duration(r.IntN(100)) * time.Millisecond
		case 4: // later
			by := time.Duration(r.IntN(1000)) * time.Millisecond
			for j := i; j < len(events); j++ {
				events[j].Time += by
			}
		case 5:
			e.Deadline, e.Token, e.Version = 0, int64(r.IntN(4)), e.Version+int64(r.IntN(2))
		case 6: // a fault
			fault := histories.Event{Time: e.Time, Process: histories.Nemesis, Worker: histories.Nemesis, F: []histories.F{"kill", "hold", "pause"}[r.IntN(3)], Type: histories.Invoke}
			over := fault
			if over.Type = histories.OK; r.IntN(3) == 0 {
				over.Type = histories.Info
			}
			j := i + r.IntN(len(events)-i)
			over.Time = events[j].Time
			events = slices.Insert(slices.Insert(events, j, over), i, fault)
		case 7: // a lease that is short
			for j := range events {
				if events[j].F == histories.Acquire && events[j].Type == histories.Invoke {
					events[j].TTL = time.Duration(5+r.IntN(100)) * time.Millisecond
				}
			}
		}
		if len(events) == 0 {
			return nil
		}
		for j := range events {
			events[j].Index = j
		}
	}
	return events
}

// without leaves out the call of an event.
func without(events []histories.Event, i int) []histories.Event {
	process, from, to := events[i].Process, i, i
	for from > 0 && (events[from].Process != process || events[from].Type != histories.Invoke) {
		from--
	}
	for to++; to < len(events) && (events[to].Process != process || events[to].Type == histories.Invoke); {
		to++
	}
	if to < len(events) {
		events = slices.Delete(events, to, to+1)
	}
	return slices.Delete(events, from, from+1)
}

// TestWildHistories: whatever stands in a history, it is searched without a panic, and no rule both passes and
// fails.
func TestWildHistories(t *testing.T) {
	const seed = 20251125
	corpus := corpus(t)
	read := 0
	many := effort.Count(2_000, 100_000)
	for n := range uint64(many) {
		r := rand.New(rand.NewPCG(seed, n))
		events := damaged(r, source(r, corpus))
		for range 1 + r.IntN(3) {
			if len(events) > 0 {
				wild(r, events, r.IntN(len(events)))
			}
		}
		found, err := certificate.Examine(bytes.NewReader(written(t, events)), certificate.Terms{Masters: r.IntN(4), Slack: time.Duration(r.Int64N(1 << 62)), Overtaking: r.IntN(2), Poll: time.Duration(r.IntN(2))})
		if err != nil {
			continue // a call is open twice, or a time goes back
		}
		read++
		for _, rule := range rules() {
			if fails := found.Fails(string(rule), certificate.BySearch, 1); len(fails) > 0 && found.Passes(string(rule), certificate.BySearch) == nil {
				t.Errorf("history %d of seed %d: %s fails and passes: %v\n%s", n, seed, rule, fails, written(t, events))
			}
		}
	}
	if read < many/10 {
		t.Errorf("%d of %d histories were searched, want a tenth", read, many)
	}
}

// wild gives the i-th event, or those from it on, a value that no run records.
func wild(r *rand.Rand, events []histories.Event, i int) {
	e := &events[i]
	extreme := []int64{-1 << 63, -1, 0, 1, 1<<63 - 1, 1<<63 - 2, 1 << 62}[r.IntN(7)]
	switch r.IntN(9) {
	case 0:
		for j := i; j < len(events); j++ {
			events[j].Time = max(e.Time, time.Duration(extreme)) // for ever the same
		}
	case 1:
		e.TTL = time.Duration(extreme)
	case 2:
		e.Deadline = time.Duration(extreme)
	case 3:
		e.Token, e.Version = extreme, extreme
	case 4:
		e.Attempt = uint64(r.IntN(3))
	case 5:
		e.Key = []string{"", "k", "other"}[r.IntN(3)]
	case 6:
		e.Value = []string{"", "read", "reenter", "invalid", "rejected", "-9223372036854775808", "9223372036854775807", "x"}[r.IntN(8)]
	case 7:
		e.F = []histories.F{histories.Audit, histories.Waited, histories.Lost, histories.Hung, histories.Count, histories.Incr, histories.Stall, histories.Crash}[r.IntN(8)]
	case 8:
		e.Worker, e.Node = int(extreme), "A"
	}
}
