package checker

import (
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
)

// longHistory is a run of at least n operations: five workers take turns on one key, read
// and write under it, and every holder refuses the next. Every hundredth acquire
// has no known outcome. A run that is not sound ends with two holders at once.
func longHistory(n int, sound bool) []histories.Event {
	var events []histories.Event
	process := []int{0, 1, 2, 3, 4}
	fresh := len(process)
	ops, attempt, version := 0, uint64(0), int64(0)
	record := func(worker int, kind histories.Type, f histories.F, e histories.Event) {
		e.Index, e.Time = len(events), time.Duration(len(events))*time.Microsecond
		e.Process, e.Worker, e.Type, e.F, e.Key = process[worker], worker, kind, f, "k"
		events = append(events, e)
		if kind == histories.Info {
			process[worker], fresh = fresh, fresh+1
		}
	}
	call := func(worker int, f histories.F, kind histories.Type, e histories.Event) {
		ops++
		invoke := e
		invoke.Version, invoke.Deadline = 0, 0
		record(worker, histories.Invoke, f, invoke)
		record(worker, kind, f, e)
	}
	acquire := func(worker int, kind histories.Type) uint64 {
		attempt++
		e := histories.Event{Attempt: attempt, TTL: time.Second}
		if kind == histories.OK {
			e.Deadline = time.Duration(len(events))*time.Microsecond + time.Second
		}
		call(worker, histories.Acquire, kind, e)
		return attempt
	}
	for turn := 0; ops < n; turn++ {
		w := turn % 5
		if turn%100 == 99 {
			acquire(w, histories.Info)
			continue
		}
		mine := histories.Event{Attempt: acquire(w, histories.OK)}
		acquire((w+1)%5, histories.Fail)
		mine.Version = version
		call(w, histories.Read, histories.OK, mine)
		call(w, histories.Write, histories.OK, mine)
		version++
		mine.Version = 0
		call(w, histories.Release, histories.OK, mine)
	}
	if !sound {
		acquire(0, histories.OK)
		acquire(1, histories.OK)
	}
	return events
}

func BenchmarkCheck(b *testing.B) {
	for name, sound := range map[string]bool{"sound": true, "broken": false} {
		events := longHistory(10_000, sound)
		want := map[bool]Verdict{true: Pass, false: Fail}[sound]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if report := Check(b.Context(), events, Options{}); report.Verdict != want {
					b.Fatalf("%v: %+v", report.Verdict, report)
				}
			}
		})
	}
}

func BenchmarkEngines(b *testing.B) {
	keys, err := divide(longHistory(10_000, true), Options{spared: math.MaxInt})
	if err != nil {
		b.Fatal(err)
	}
	sections := strictSections(keys[0])
	b.Run("interval", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n := sweep(sections).n; n != 0 {
				b.Fatal(n)
			}
		}
	})
	b.Run("porcupine", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if got := linearizable(b.Context(), sections, time.Minute); got != porcupine.Ok {
				b.Fatal(got)
			}
		}
	})
}

// The benchmark's history is long enough to be a test of its own.
func TestLongHistories(t *testing.T) {
	for sound, want := range map[bool]Verdict{true: Pass, false: Fail} {
		if got := Check(t.Context(), longHistory(10_000, sound), Options{}); got.Verdict != want {
			t.Errorf("sound %v: %v, want %v\n%+v", sound, got.Verdict, want, got)
		}
	}
}
