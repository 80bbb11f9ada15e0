package histories

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script is a clock that returns the given times, one per call.
func script(times ...time.Duration) func() time.Duration {
	return func() time.Duration {
		t := times[0]
		times = times[1:]
		return t
	}
}

func stopped() time.Duration { return 0 }

func TestRecorderStamps(t *testing.T) {
	r := NewRecorder(nil)
	r.Start(script(5, 7, 7))
	first := r.Record(Event{Index: 99, Time: 99, F: Acquire, Type: Invoke})
	r.Record(Event{F: Acquire, Type: OK})
	r.Record(Event{F: Release, Type: Invoke})

	want := []Event{
		{Index: 0, Time: 5, F: Acquire, Type: Invoke},
		{Index: 1, Time: 7, F: Acquire, Type: OK},
		{Index: 2, Time: 7, F: Release, Type: Invoke},
	}
	if diff := cmp.Diff(want, r.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if first != want[0] || r.Len() != 3 || r.Clamped() != 0 {
		t.Errorf("Record returned %v, Len %d, Clamped %d", first, r.Len(), r.Clamped())
	}
	wantErr(t, r.Close(), "")
}

func TestRecorderClampsAClockThatGoesBack(t *testing.T) {
	r := NewRecorder(nil)
	r.Start(script(-3, 10, 4, 9, 11))
	var times []time.Duration
	for range 5 {
		times = append(times, r.Record(Event{}).Time)
	}
	if diff := cmp.Diff([]time.Duration{0, 10, 10, 10, 11}, times); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
	if r.Clamped() != 3 {
		t.Errorf("Clamped = %d, want 3", r.Clamped())
	}
}

func TestRecorderEventsIsACopy(t *testing.T) {
	r := NewRecorder(nil)
	r.Start(stopped)
	r.Record(Event{Key: "a"})
	r.Events()[0].Key = "b"
	before := r.Events()
	r.Record(Event{Key: "c"})
	if len(before) != 1 || before[0].Key != "a" {
		t.Errorf("an earlier copy is %v, want one event with key a", before)
	}
}

func TestRecorderMisuse(t *testing.T) {
	tests := []struct {
		name string
		use  func(r *Recorder)
		want string
		file int // lines in it
	}{
		{"no start", func(r *Recorder) {
			r.Record(Event{})
			r.Record(Event{})
		}, "history: event 0 was recorded before Start; its time is unknown and stands as 0", 2},
		{"two starts", func(r *Recorder) {
			r.Start(script(3))
			r.Start(script(4))
			r.Record(Event{})
		}, "history: the recorder was started twice; the first clock was kept", 1},
		{"after close", func(r *Recorder) {
			r.Start(stopped)
			r.Record(Event{})
			_ = r.Close()
			_ = r.Flush()
			r.Record(Event{})
		}, "history: event 1 was recorded after Close; it is in memory only", 1},
		{"no such type", func(r *Recorder) {
			r.Start(stopped)
			r.Record(Event{Type: 9})
		}, `history: event 0: "type" is "Type(9)", want invoke, ok, fail or info; it was recorded as info`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var file bytes.Buffer
			r := NewRecorder(&file)
			tt.use(r)
			wantErr(t, r.Close(), tt.want)
			events, err := ReadJSONL(&file, "file")
			if err != nil || len(events) != tt.file {
				t.Errorf("the file has %d events, %v; want %d", len(events), err, tt.file)
			}
			if diff := cmp.Diff(r.Events()[:tt.file], events); diff != "" {
				t.Errorf("memory and file differ:\n%s", diff)
			}
		})
	}
}

func TestRecorderConcurrent(t *testing.T) {
	var file bytes.Buffer
	r := NewRecorder(&file)
	began := time.Now()
	r.Start(func() time.Duration { return time.Since(began) })
	const callers, each = 8, 2000
	var wg sync.WaitGroup
	for p := range callers {
		wg.Go(func() {
			for i := range each {
				r.Record(Event{Process: p, Attempt: uint64(i), Value: "\xff<"})
				if i%500 == 0 {
					_ = r.Events()
					if err := r.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	wantErr(t, r.Close(), "")

	inFile, err := ReadJSONL(&file, "file")
	if err != nil {
		t.Fatal(err)
	}
	events := r.Events()
	if diff := cmp.Diff(events, inFile); diff != "" {
		t.Fatalf("memory and file differ:\n%s", diff)
	}
	if len(events) != callers*each || r.Clamped() != 0 {
		t.Errorf("%d events, %d clamped; want %d and none", len(events), r.Clamped(), callers*each)
	}
	last := make(map[int]uint64)
	for i, e := range events {
		if e.Index != i || i > 0 && e.Time < events[i-1].Time {
			t.Fatalf("event %d has index %d and time %v after %v", i, e.Index, e.Time, events[i-1].Time)
		}
		if e.Attempt < last[e.Process] {
			t.Fatalf("process %d: attempt %d after %d", e.Process, e.Attempt, last[e.Process])
		}
		last[e.Process] = e.Attempt
	}
}

// writes sends every Write it gets to a channel.
type writes chan []byte

func (w writes) Write(p []byte) (int, error) {
	w <- bytes.Clone(p)
	return len(p), nil
}

func TestRecorderWritesWithoutBeingAsked(t *testing.T) {
	w := make(writes)
	r := NewRecorder(w)
	r.Start(stopped)
	r.Record(Event{F: "one"})
	first := <-w // comes from the flusher: nobody called Flush or Close
	r.Record(Event{F: "two"})
	second := <-w
	wantErr(t, r.Close(), "")
	for i, p := range [][]byte{first, second} {
		if !bytes.HasSuffix(p, []byte("}\n")) || bytes.Count(p, []byte("\n")) != 1 {
			t.Errorf("write %d is %q, want one whole line", i, p)
		}
	}
}

// stuck blocks in its first Write until it is released.
type stuck struct {
	entered, release chan struct{}
	once             sync.Once
	bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	s.once.Do(func() {
		close(s.entered)
		<-s.release
	})
	return s.Buffer.Write(p)
}

func TestRecordDoesNotWaitForTheWriter(t *testing.T) {
	w := &stuck{entered: make(chan struct{}), release: make(chan struct{})}
	r := NewRecorder(w)
	r.Start(stopped)
	r.Record(Event{})
	<-w.entered
	for range 1000 { // would never return if the writer's lock were Record's
		r.Record(Event{})
	}
	if r.Len() != 1001 || len(r.Events()) != 1001 {
		t.Errorf("Len = %d, want 1001", r.Len())
	}
	close(w.release)
	wantErr(t, r.Close(), "")
	events, err := ReadJSONL(&w.Buffer, "file")
	if err != nil || len(events) != 1001 {
		t.Errorf("the file has %d events, %v; want 1001", len(events), err)
	}
}

// disk takes room bytes and then fails.
type disk struct {
	room   int
	err    error
	writes int // after it was full
	bytes.Buffer
}

func (d *disk) Write(p []byte) (int, error) {
	if d.room == 0 {
		d.writes++
	}
	n := min(len(p), d.room)
	d.room -= n
	d.Buffer.Write(p[:n])
	if n < len(p) {
		d.room = 0
		return n, d.err
	}
	return n, nil
}

func TestRecorderFullDisk(t *testing.T) {
	line := len(appendEvent(nil, &Event{F: Acquire})) + 1
	full := &os.PathError{Op: "write", Path: "history.jsonl", Err: syscall.ENOSPC}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"full", full, "history: writing it failed after 2 events: write history.jsonl: no space left on device; all 6 events are still in memory"},
		{"short write without an error", nil, "history: writing it failed after 2 events: short write; all 6 events are still in memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &disk{room: 2*line + line/2, err: tt.err}
			r := NewRecorder(d)
			r.Start(stopped)
			r.Record(Event{F: Acquire})
			wantErr(t, r.Flush(), "")
			for range 4 {
				r.Record(Event{F: Acquire})
			}
			if err := r.Flush(); err == nil {
				t.Error("Flush on a full disk succeeded")
			}
			r.Record(Event{F: Acquire})
			err := r.Close()
			wantErr(t, err, tt.want)
			wantErr(t, r.Close(), tt.want) // again
			if tt.err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%v does not wrap ENOSPC", err)
			}
			if d.writes != 0 {
				t.Errorf("%d writes behind a torn line", d.writes)
			}
			if n := len(r.Events()); n != 6 {
				t.Errorf("%d events in memory, want 6", n)
			}
			events, err := ReadJSONL(&d.Buffer, "file")
			if len(events) != 2 || !errors.Is(err, ErrTruncated) {
				t.Errorf("the file has %d events, %v; want 2 and ErrTruncated", len(events), err)
			}
		})
	}
}

// failing records one more event while it fails.
type failing struct {
	r      *Recorder
	writes int
}

func (f *failing) Write([]byte) (int, error) {
	f.writes++
	f.r.Record(Event{})
	return 0, errors.New("gone")
}

// What is recorded while a write fails must not be written behind the torn line.
func TestRecorderEventDuringAFailingWrite(t *testing.T) {
	w := &failing{}
	w.r = NewRecorder(w)
	w.r.Start(stopped)
	w.r.Record(Event{})
	const want = "history: writing it failed after 0 events: gone; all 2 events are still in memory"
	wantErr(t, w.r.Flush(), want)
	wantErr(t, w.r.Close(), want)
	if w.writes != 1 {
		t.Errorf("%d writes, want 1", w.writes)
	}
}

// A recorder made outside a bubble serves goroutines inside it: its flusher lives
// in real time while the clock it stamps with is the bubble's.
func TestRecorderInsideABubble(t *testing.T) {
	w := make(writes)
	r := NewRecorder(w)
	var file bytes.Buffer
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		for p := range w {
			file.Write(p)
		}
	}()
	const callers, each = 5, 200
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r.Start(func() time.Duration { return time.Since(began) })
		var wg sync.WaitGroup
		for p := range callers {
			wg.Go(func() {
				time.Sleep(time.Duration(p)) // no two at the same instant
				for range each {
					time.Sleep(time.Second)
					r.Record(Event{Process: p})
				}
			})
		}
		wg.Wait()
		if d := time.Since(began); d != each*time.Second+callers-1 {
			t.Errorf("the bubble took %v, so the recorder moved its clock", d)
		}
	})
	wantErr(t, r.Close(), "")
	close(w)
	<-copied

	events, err := ReadJSONL(&file, "file")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Events(), events); diff != "" {
		t.Errorf("memory and file differ:\n%s", diff)
	}
	for i, e := range events {
		want := Event{Index: i, Process: i % callers, Time: time.Duration(i/callers+1)*time.Second + time.Duration(i%callers)}
		if e != want {
			t.Fatalf("event %v, want %v", e, want)
		}
	}
}

const killedFile = "LOCKBENCH_TEST_KILLED_FILE"

// TestKilledProcess records in a process of its own, kills it, and reads its file.
func TestKilledProcess(t *testing.T) {
	if path := os.Getenv(killedFile); path != "" {
		recordUntilKilled(path)
	}
	path := filepath.Join(t.TempDir(), EventsFile)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$")
	child.Env = append(os.Environ(), killedFile+"="+path)
	said, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	// It speaks once the file has events, and then goes on recording.
	if _, err := io.ReadFull(said, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	_ = child.Wait() // "signal: killed"

	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	events, err := ReadJSONL(f, EventsFile)
	if err != nil && !errors.Is(err, ErrTruncated) {
		t.Fatal(err)
	}
	if len(events) == 0 {
		t.Fatal("nothing of the history survived")
	}
	for i, e := range events {
		if e.Index != i {
			t.Fatalf("event %d has index %d", i, e.Index)
		}
	}
}

// recordUntilKilled records more than there is time for, but not for ever: nobody may be left
// to kill it.
func recordUntilKilled(path string) {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	r := NewRecorder(f)
	began := time.Now()
	r.Start(func() time.Duration { return time.Since(began) })
	said := false
	for range 300_000 {
		r.Record(Event{F: Acquire, Key: strings.Repeat("k", 100)})
		if info, err := f.Stat(); err == nil && info.Size() > 0 && !said {
			said = true
			_, _ = os.Stdout.WriteString("x")
		}
	}
	os.Exit(0)
}

// TestRecorderFrom reads a history in pieces while it grows.
func TestRecorderFrom(t *testing.T) {
	r := NewRecorder(nil)
	var now time.Duration
	r.Start(func() time.Duration { now++; return now })
	var read []Event
	for i := range 20_000 {
		r.Record(Event{Process: 1, Type: Invoke, F: Read})
		if i%777 == 0 || i%64 == 0 {
			read = append(read, r.From(len(read))...)
		}
	}
	read = append(read, r.From(len(read))...)
	if diff := cmp.Diff(r.Events(), read); diff != "" || len(read) != 20_000 {
		t.Errorf("%d events (-all at once +in pieces):\n%s", len(read), diff)
	}
	if more := r.From(len(read)); len(more) != 0 {
		t.Errorf("%d events more", len(more))
	}
}
