package histories

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func BenchmarkRecord(b *testing.B) {
	e := Event{Process: 3, Worker: 3, Type: OK, F: Acquire, Key: "orders/42", Attempt: 17, Token: 4,
		TTL: 3 * time.Second, Deadline: 3014 * time.Millisecond}
	clock := func() func() time.Duration {
		began := time.Now()
		return func() time.Duration { return time.Since(began) }
	}
	targets := []struct {
		name string
		w    func(*testing.B) io.Writer
	}{
		{"memory", func(*testing.B) io.Writer { return nil }},
		{"file", func(b *testing.B) io.Writer {
			f, err := os.Create(filepath.Join(b.TempDir(), "history.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = f.Close() })
			return f
		}},
	}
	for _, target := range targets {
		b.Run(target.name, func(b *testing.B) {
			r := NewRecorder(target.w(b))
			r.Start(clock())
			b.ReportAllocs()
			for b.Loop() {
				r.Record(e)
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
		b.Run(target.name+"-parallel", func(b *testing.B) {
			r := NewRecorder(target.w(b))
			r.Start(clock())
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r.Record(e)
				}
			})
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkReadJSONL(b *testing.B) { benchmarkRead(b, JSONL) }

func BenchmarkReadEDN(b *testing.B) { benchmarkRead(b, EDN) }

func benchmarkRead(b *testing.B, format Format) {
	var file bytes.Buffer
	if err := writeAll(&file, format, sections(1000)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (&Decoder{Name: "bench", Format: format}).all(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadTimes reads a history in turn with times that count from its beginning, and with
// nanoseconds since 1970, which have 19 digits, and tells how much longer the latter takes per event.
func BenchmarkReadTimes(b *testing.B) {
	events := sections(1000)
	var small, unix bytes.Buffer
	if err := WriteJSONL(&small, events); err != nil {
		b.Fatal(err)
	}
	for i := range events {
		events[i].Time += 1_763_800_000 * time.Second
	}
	if err := WriteJSONL(&unix, events); err != nil {
		b.Fatal(err)
	}
	read := func(file *bytes.Buffer) time.Duration {
		began := time.Now()
		if _, err := ReadJSONL(bytes.NewReader(file.Bytes()), "bench"); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	var bySmall, byUnix time.Duration
	for b.Loop() {
		bySmall += read(&small)
		byUnix += read(&unix)
	}
	b.ReportMetric(float64(byUnix)/float64(bySmall), "unix/small")
}

func BenchmarkValidate(b *testing.B) {
	events := sections(1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := Validate(events); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	events := sections(1000)
	b.ReportAllocs()
	for b.Loop() {
		if n := len(Holds(events)); n != 1000 {
			b.Fatalf("%d holds", n)
		}
	}
}
