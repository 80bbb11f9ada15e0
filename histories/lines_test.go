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
