package checker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A crowd is a big history of one key: so many operations of so many clients, some of them
// of unknown outcome. Calls overlap. One that is bad ends with a lock granted twice. In one
// that is stuck that comes half-way, and one of the two keeps the lock to the end.
type crowd struct {
	operations, clients int
	unknown             float64 // share of the operations
	seed                uint64
	bad, stuck          bool
}

func (c crowd) String() string {
	kind := "good"
	switch {
	case c.bad:
		kind = "bad"
	case c.stuck:
		kind = "stuck"
	}
	return fmt.Sprintf("%s/ops=%d/clients=%d/unknown=%.0f%%", kind, c.operations, c.clients, 100*c.unknown)
}

// events are those of the crowd. A right lock decides; what it does takes effect when the
// call returns.
func (c crowd) events() []histories.Event {
	type client struct {
		process int
		open    histories.F
		attempt uint64
		holds   bool // or may hold, and will release
	}
	rng := rand.New(rand.NewPCG(7+c.seed, uint64(c.clients)))
	clients := make([]client, c.clients+1) // the last one is for what is stuck
	for w := range clients {
		clients[w].process = w
	}
	events := make([]histories.Event, 0, 2*c.operations+8)
	fresh, attempt, holder := len(clients), uint64(0), -1
	record := func(w int, kind histories.Type, f histories.F) {
		at := time.Duration(len(events)) * time.Microsecond
		e := histories.Event{
			Index: len(events), Time: at, Process: clients[w].process, Worker: w,
			Type: kind, F: f, Key: "orders/42", Attempt: clients[w].attempt,
		}
		switch {
		case f == histories.Acquire && kind == histories.Invoke:
			e.TTL = 10 * time.Second
		case f == histories.Acquire && kind == histories.OK:
			e.Deadline = at + 9*time.Second
		}
		events = append(events, e)
	}
	invoke := func(w int, f histories.F) {
		if f == histories.Acquire {
			attempt++
			clients[w].attempt = attempt
		}
		clients[w].open = f
		record(w, histories.Invoke, f)
	}
	complete := func(w int, kind histories.Type) {
		record(w, kind, clients[w].open)
		clients[w].open = ""
		if kind == histories.Info {
			clients[w].process, fresh = fresh, fresh+1
		}
	}
	stuck := c.stuck
	for ops := 0; ops < c.operations; {
		if stuck && ops >= c.operations/2 && holder >= 0 {
			invoke(c.clients, histories.Acquire)
			complete(c.clients, histories.OK)
			stuck = false
		}
		w := rng.IntN(c.clients)
		if holder >= 0 && rng.IntN(3) == 0 {
			w = holder
		}
		me := &clients[w]
		lost := rng.Float64() < c.unknown
		switch {
		case me.open == "" && me.holds:
			invoke(w, histories.Release)
			ops++
		case me.open == "":
			invoke(w, histories.Acquire)
			ops++
		case me.open == histories.Release:
			me.holds = false
			if holder == w {
				holder = -1
			}
			if lost {
				complete(w, histories.Info)
			} else {
				complete(w, histories.OK)
			}
		case holder >= 0:
			if lost {
				complete(w, histories.Info)
			} else {
				complete(w, histories.Fail)
			}
		case lost:
			// It was granted, and half of those who do not know it find out by their release.
			if rng.IntN(2) == 0 {
				holder, me.holds = w, true
			}
			complete(w, histories.Info)
		default:
			holder, me.holds = w, true
			complete(w, histories.OK)
		}
	}
	for w := range clients {
		if clients[w].open != "" {
			complete(w, histories.Info)
		}
	}
	if c.bad {
		for w := range 2 {
			invoke(w, histories.Acquire)
			complete(w, histories.OK)
		}
	}
	return events
}

func crowds(operations int) []crowd {
	var all []crowd
	for _, bad := range []bool{false, true} {
		for _, clients := range []int{8, 64} {
			for _, unknown := range []float64{0, 0.05} {
				all = append(all, crowd{operations: operations, clients: clients, unknown: unknown, bad: bad})
			}
		}
	}
	return append(all, crowd{operations: operations, clients: 8, unknown: 0.05, stuck: true})
}

// BenchmarkStream reads a history of a million operations from a file and judges all
// exclusion properties by both engines. peak-MB is the most heap that was in use.
func BenchmarkStream(b *testing.B) {
	for _, c := range crowds(1_000_000) {
		b.Run(c.String(), func(b *testing.B) {
			path := c.write(b)
			runtime.GC()
			peak, stop := watchHeap()
			b.ReportAllocs()
			for b.Loop() {
				s := NewStream()
				if _, err := histories.EachEvent(path, false, func(_ int, e histories.Event) error { return s.Add(e) }); err != nil {
					b.Fatal(err)
				}
				c.expect(b, s.Check(b.Context(), Options{}))
			}
			stop()
			b.ReportMetric(float64(peak.Load())/1e6, "peak-MB")
		})
	}
}

// write writes the crowd to a file.
func (c crowd) write(t testing.TB) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(histories.WriteJSONL(f, c.events()), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// expect fails if a report is not what the crowd deserves.
func (c crowd) expect(t testing.TB, report Report) {
	t.Helper()
	want := Pass
	if c.bad || c.stuck {
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
	c := crowd{operations: 100_000, clients: 8, unknown: 0.05, bad: true}
	events := c.events()
	b.ReportAllocs()
	for b.Loop() {
		s := NewStream()
		for _, e := range events {
			_ = s.Add(e)
		}
		c.expect(b, s.Check(b.Context(), Options{}))
	}
}

// BenchmarkPlain compares with porcupine on the whole history, on the sizes that it can
// still do. The ratio is its time for the strict reading to that of both engines for all readings.
func BenchmarkPlain(b *testing.B) {
	for _, c := range crowds(10_000) {
		if c.unknown > 0 {
			c.operations = 1_000 // it takes exponential time in them
		}
		b.Run(c.String(), func(b *testing.B) {
			events := c.events()
			var ours, theirs time.Duration
			for b.Loop() {
				began := time.Now()
				s := NewStream()
				for _, e := range events {
					_ = s.Add(e)
				}
				report := s.Check(b.Context(), Options{})
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
			events := c.events()
			s := NewStream()
			for _, e := range events {
				_ = s.Add(e)
			}
			streamed, whole := s.Check(t.Context(), Options{}), Check(t.Context(), events, Options{})
			c.expect(t, streamed)
			c.expect(t, whole)
			for _, got := range streamed.Results {
				if want := whole.Result(got.Property); got.Story != want.Story || got.Checked != want.Checked || got.Unknowns != want.Unknowns {
					t.Errorf("streamed %+v, whole %+v", got, want)
				}
			}
		})
	}
}
