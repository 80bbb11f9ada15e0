package checker

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/crowd"
)

func crowds(operations int) []crowd.Crowd {
	var all []crowd.Crowd
	for _, bad := range []bool{false, true} {
		for _, clients := range []int{8, 64} {
			for _, unknown := range []float64{0, 0.05} {
				all = append(all, crowd.Crowd{Operations: operations, Clients: clients, Unknown: unknown, Bad: bad})
			}
		}
	}
	return append(all, crowd.Crowd{Operations: operations, Clients: 8, Unknown: 0.05, Stuck: true})
}

// BenchmarkStream reads a history of a million operations from a file and judges all
// exclusion properties by both engines. peak-MB is the most heap that was in use.
func BenchmarkStream(b *testing.B) {
	for _, c := range crowds(1_000_000) {
		b.Run(c.String(), func(b *testing.B) {
			path := write(b, c)
			runtime.GC()
			peak, stop := watchHeap()
			b.ReportAllocs()
			for b.Loop() {
				s := NewStream(b.Context(), Options{Properties: ofExclusion()})
				if _, err := histories.EachEvent(path, false, nil, func(_ int, e histories.Event) error { return s.Add(e) }); err != nil {
					b.Fatal(err)
				}
				expect(b, c, s.Check(nil, false))
			}
			stop()
			b.ReportMetric(float64(peak.Load())/1e6, "peak-MB")
		})
	}
}

// write writes the crowd to a file.
func write(t testing.TB, c crowd.Crowd) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(histories.WriteJSONL(f, c.Events()), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// expect fails if a report is not what the crowd deserves.
func expect(t testing.TB, c crowd.Crowd, report Report) {
	t.Helper()
	want := Pass
	if c.Bad || c.Stuck {
		want = Fail
	}
	for _, p := range []Property{StrictExclusion, LeaseExclusion, LeaseHonoured} {
		if got := report.Result(p); got.Verdict != want {
			t.Fatalf("%s is %v, want %v: %s\n%q", p, got.Verdict, want, got.Story, report.HarnessErrors)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

func watchHeap() (peak *atomic.Uint64, stop func()) {
	peak = new(atomic.Uint64)
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			peak.Store(max(peak.Load(), heap()))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return peak, func() { close(done); <-gone }
}

// BenchmarkUnknowns judges a history on which plain porcupine gives no answer.
func BenchmarkUnknowns(b *testing.B) {
	c := crowd.Crowd{Operations: 100_000, Clients: 8, Unknown: 0.05, Bad: true}
	events := c.Events()
	b.ReportAllocs()
	for b.Loop() {
		s := NewStream(b.Context(), Options{Properties: ofExclusion()})
		for _, e := range events {
			_ = s.Add(e)
		}
		expect(b, c, s.Check(nil, false))
	}
}

// BenchmarkPlain compares with porcupine on the whole history, on the sizes that it can
// still do. The ratio is its time for the strict reading to that of both engines for all readings.
func BenchmarkPlain(b *testing.B) {
	for _, c := range crowds(10_000) {
		if c.Unknown > 0 {
			c.Operations = 1_000 // it takes exponential time in them
		}
		b.Run(c.String(), func(b *testing.B) {
			events := c.Events()
			var ours, theirs time.Duration
			for b.Loop() {
				began := time.Now()
				s := NewStream(b.Context(), Options{Properties: ofExclusion()})
				for _, e := range events {
					_ = s.Add(e)
				}
				report := s.Check(nil, false)
				ours += time.Since(began)
				began = time.Now()
				legal := plain(events)
				theirs += time.Since(began)
				if legal != (report.Result(StrictExclusion).Verdict == Pass) {
					b.Fatalf("plain porcupine says %v: %+v", legal, report)
				}
			}
			b.ReportMetric(float64(theirs)/float64(ours), "plain/ours")
		})
	}
}

// TestStream checks that a stream gives the verdicts of Check, and crowds what they deserve.
func TestStream(t *testing.T) {
	for _, c := range crowds(2_000) {
		t.Run(c.String(), func(t *testing.T) {
			events := c.Events()
			s := NewStream(t.Context(), Options{Properties: ofExclusion()})
			for _, e := range events {
				_ = s.Add(e)
			}
			streamed, whole := s.Check(nil, false), Check(t.Context(), events, Options{})
			expect(t, c, streamed)
			expect(t, c, whole)
			for _, got := range streamed.Results {
				if want := whole.Result(got.Property); got.Story != want.Story || got.Checked != want.Checked || got.Unknowns != want.Unknowns {
					t.Errorf("streamed %+v, whole %+v", got, want)
				}
			}
		})
	}
}
