package histories

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// decoded is all that comes of a file: events, what was skipped, and the error.
type decoded struct {
	Events  []Event
	Skipped []string
	Err     string
}

// inChunks decodes by chunks of a size, as Decode does.
func inChunks(data []byte, size int, lenient bool) decoded {
	var got decoded
	d := &lineDecoder{name: "h", unit: "event", chunk: size}
	if lenient {
		d.skip = func(e *LineError) { got.Skipped = append(got.Skipped, e.Error()) }
	}
	err := decodeLines(bytes.NewReader(data), d, eventParser, func(e Event) error {
		got.Events = append(got.Events, e)
		return nil
	})
	got.Err = fmt.Sprint(err)
	return got
}

// lineByLine decodes as Decode promises, in the plainest way, by encoding/json alone.
func lineByLine(data []byte, lenient bool) decoded {
	got := decoded{Err: fmt.Sprint(nil)}
	no := 0
	for line := range bytes.Lines(data) {
		no++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, err := parseAny(line)
		if errors.Is(err, errIncomplete) && !bytes.HasSuffix(line, []byte("\n")) {
			err = ErrTruncated
		}
		if err == nil {
			got.Events = append(got.Events, e)
			continue
		}
		told := (&LineError{"h", no, len(got.Events), err, "event"}).Error()
		if !lenient {
			got.Err = told
			break
		}
		got.Skipped = append(got.Skipped, told)
	}
	return got
}

// checkChunks checks that it does not matter where a file is cut into chunks, nor which
// parser takes a line.
func checkChunks(t *testing.T, data []byte) {
	t.Helper()
	for _, lenient := range []bool{false, true} {
		want := lineByLine(data, lenient)
		for _, size := range []int{1, 100, 1000, chunkSize} {
			if diff := cmp.Diff(want, inChunks(data, size, lenient)); diff != "" {
				t.Fatalf("in chunks of %d bytes, lenient %v (-line by line +in chunks):\n%s", size, lenient, diff)
			}
		}
	}
}

func TestChunks(t *testing.T) {
	var file bytes.Buffer
	if err := WriteJSONL(&file, append(goldenEvents(), sections(20)...)); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(file.String(), "\n")
	lines = append(lines[:5:5], append([]string{"\n", "{}\n", "x\n", `{"index":1}` + "\n", " \r\n"}, lines[5:]...)...)
	lines = append(lines[:20:20], append([]string{soundLine(`,"value":"` + strings.Repeat("long ", 1000) + `"`), "[]\n"}, lines[20:]...)...)
	text := strings.Join(lines, "") + `{"index":`
	for _, data := range []string{"", "\n", "x", text, text[:len(text)-len(`{"index":`)]} {
		checkChunks(t, []byte(data))
	}
	if got := inChunks([]byte(text), 100, true); len(got.Skipped) != 5 || !strings.Contains(got.Skipped[4], "truncated") {
		t.Errorf("skipped %q", got.Skipped)
	}
}

// What is read before an error of the reader counts, in whatever chunk it stood.
func TestChunksOfABrokenReader(t *testing.T) {
	broken := errors.New("input/output error")
	for n := range 50 {
		text := strings.Repeat(soundLine(""), n)
		got := 0
		err := decodeLines(io.MultiReader(strings.NewReader(text+`{"index"`), iotest.ErrReader(broken)), &lineDecoder{name: "h", unit: "event", chunk: 200}, eventParser, func(Event) error {
			got++
			return nil
		})
		var line *LineError
		if !errors.As(err, &line) || line.Line != n+1 || line.Sound != n || !errors.Is(err, broken) || got != n {
			t.Fatalf("%d lines: %d events, %v", n, got, err)
		}
	}
}

// An error of the callback ends it at once, and no parser is left running.
func TestChunksStop(t *testing.T) {
	enough := errors.New("enough")
	for stop := 1; stop < 100; stop += 7 {
		n := 0
		err := decodeLines(strings.NewReader(strings.Repeat(soundLine(""), 200)), &lineDecoder{name: "h", unit: "event", chunk: 300}, eventParser, func(Event) error {
			if n++; n == stop {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || n != stop {
			t.Fatalf("stopped after %d events with %v, want %d", n, err, stop)
		}
	}
}

// TestChunksOfLongLines checks that lines which are too long are left out wherever they stand, and no
// other line with them.
func TestChunksOfLongLines(t *testing.T) {
	const longest = 1000
	sound, long := soundLine(""), strings.Repeat("x", 5*longest)
	for _, lines := range [][]string{
		{long}, {long, "\n"}, {long, "\n", sound}, {sound, long, "\n", sound, sound}, {sound, long, "\n", long, "\n", sound, long, "\n"}, {long, "\n", "\n", long},
	} {
		file := strings.Join(lines, "")
		var wantBad []int
		want := 0
		for i, line := range strings.Split(file, "\n") {
			if len(line) > longest {
				wantBad = append(wantBad, i+1)
			} else if line != "" {
				want++
			}
		}
		for size := 1; size < 4*longest; size = size*3 + 1 {
			var bad, at []int
			d := &lineDecoder{name: "h", unit: "event", chunk: size, longest: longest, skip: func(e *LineError) {
				if !errors.Is(e, errLongLine) {
					t.Errorf("%v", e)
				}
				bad = append(bad, e.Line)
			}, at: func(line int) { at = append(at, line) }}
			got := 0
			err := decodeLines(strings.NewReader(file), d, eventParser, func(Event) error { got++; return nil })
			if diff := cmp.Diff(wantBad, bad); err != nil || got != want || diff != "" {
				t.Fatalf("%d lines in chunks of %d: %d events, want %d, %v (-want +got):\n%s", len(lines), size, got, want, err, diff)
			}
			for _, line := range at {
				if text := strings.Split(file, "\n")[line-1] + "\n"; text != sound {
					t.Fatalf("an event is said to be in line %d, which is %.40q", line, text)
				}
			}
		}
	}
}

// TestTooManyBadLines checks that what is left out of a file is bounded.
func TestTooManyBadLines(t *testing.T) {
	skipped := 0
	d := Decoder{Name: "h", Skip: func(*LineError) { skipped++ }}
	_, err := d.all(strings.NewReader(strings.Repeat("x\n", mostSkipped+5)))
	wantErr(t, err, "h:100001: more than 100000 lines are not sound, want a history; no more than that are left out; 0 events before it are sound")
	if skipped != mostSkipped || !Unsound(err) {
		t.Errorf("%d lines were skipped, unsound %v", skipped, Unsound(err))
	}
}

// TestParserPanics checks that a panic of a parser, which has a goroutine of its own, is an error.
func TestParserPanics(t *testing.T) {
	n := 0
	parse := func([]byte) (int, error) {
		if n++; n == 3 {
			panic("no third")
		}
		return n, nil
	}
	err := decodeLines(strings.NewReader("1\n2\n\n3\n4\n"), &lineDecoder{name: "h", serial: true}, stateless(parse), func(int) error { return nil })
	wantErr(t, err, "h:4: lockbench panicked where it read this: no third; please report it with that line")
	if Unsound(err) {
		t.Error("it is taken for an error of the file")
	}
}
