package histories

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// soundLine is a line with all required fields, and more.
func soundLine(more string) string {
	return `{"index":0,"time":1,"process":2,"worker":3,"type":"ok","f":"acquire"` + more + "}\n"
}

func TestJSONLRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	events := goldenEvents()
	for range 500 {
		events = append(events, valid(randomEvent(r)))
	}
	events = append(events, Event{F: Write, Key: strings.Repeat("k", 1<<20), Value: strings.Repeat("\n", 1<<20)})
	events = append(events, Event{F: Write})

	var file bytes.Buffer
	if err := WriteJSONL(&file, events); err != nil {
		t.Fatal(err)
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole":         func(r io.Reader) io.Reader { return r },
		"half reads":    iotest.HalfReader,
		"data with EOF": iotest.DataErrReader,
	}
	for name, wrap := range readers {
		got, err := ReadJSONL(wrap(bytes.NewReader(file.Bytes())), name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadJSONLAccepts(t *testing.T) {
	want := Event{Time: 1, Process: 2, Worker: 3, Type: OK, F: Acquire}
	tests := []struct {
		name, file string
		events     int
	}{
		{"empty", "", 0},
		{"blank", "\n \n\t\r\n", 0},
		{"one", soundLine(""), 1},
		{"no last newline", strings.TrimSpace(soundLine("")), 1},
		{"windows", strings.ReplaceAll(soundLine("")+soundLine(""), "\n", "\r\n"), 2},
		{"blank between", soundLine("") + "\n" + soundLine(""), 2},
		{"other order and spaces", ` { "f": "acquire", "type": "ok", "worker": 3, "process": 2, "time": 1, "index": 0 } `, 1},
		{"explicit zeros", soundLine(`,"key":"","attempt":0,"ttl":0,"error":null`), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, err := ReadJSONL(strings.NewReader(tt.file), "h")
			if err != nil || len(events) != tt.events {
				t.Fatalf("%d events, %v; want %d", len(events), err, tt.events)
			}
			for _, e := range events {
				if e != want {
					t.Errorf("%v, want %v", e, want)
				}
			}
		})
	}
}

func TestReadJSONLErrors(t *testing.T) {
	const names = "index, time, process, worker, type, f, key, attempt, token, ttl, deadline, version, value, node or error"
	good := soundLine("")
	tests := []struct {
		name, file, want string
		events           int
	}{
		{"type", good + strings.Replace(good, `"ok"`, `"okay"`, 1),
			`h:2: "type" is "okay", want invoke, ok, fail or info; 1 event before it is sound`, 1},
		{"type number", strings.Replace(good, `"ok"`, `2`, 1),
			`h:1: "type" is a number, want invoke, ok, fail or info; 0 events before it are sound`, 0},
		{"blank lines count", good + "\n" + good + "x\n",
			`h:4: byte 1: invalid character 'x' looking for beginning of value, want one JSON object per line; 2 events before it are sound`, 2},
		{"time text", strings.Replace(good, `"time":1`, `"time":"1ms"`, 1),
			`h:1: "time" is a string, want an integer; 0 events before it are sound`, 0},
		{"time fraction", strings.Replace(good, `"time":1`, `"time":1.5`, 1),
			`h:1: "time" is number 1.5, want an integer; 0 events before it are sound`, 0},
		{"time too large", strings.Replace(good, `"time":1`, `"time":9223372036854775808`, 1),
			`h:1: "time" is number 9223372036854775808, want an integer; 0 events before it are sound`, 0},
		{"negative attempt", soundLine(`,"attempt":-1`),
			`h:1: "attempt" is number -1, want an integer; 0 events before it are sound`, 0},
		{"leading zero", strings.Replace(good, `"time":1`, `"time":01`, 1),
			`h:1: byte 20: invalid character '1' after object key:value pair, want one JSON object per line; 0 events before it are sound`, 0},
		{"key object", soundLine(`,"key":{}`), `h:1: "key" is an object, want a string; 0 events before it are sound`, 0},
		{"unknown field", soundLine(`,"atempt":1`), `h:1: unknown field "atempt", want ` + names + `; 0 events before it are sound`, 0},
		{"twice", soundLine(`,"type":"fail"`), `h:1: "type" stands there twice; 0 events before it are sound`, 0},
		{"twice, spelled in two ways", soundLine(`,"key":"Key","KEY":"k"`), `h:1: "KEY" stands there twice; 0 events before it are sound`, 0},
		{"missing", `{"index":0,"time":1,"process":2,"worker":3,"type":"ok"}`, `h:1: "f" is missing; 0 events before it are sound`, 0},
		{"null is missing", strings.Replace(good, `"index":0`, `"index":null`, 1), `h:1: "index" is missing; 0 events before it are sound`, 0},
		{"no object", "[1]\n", `h:1: found an array, want one JSON object per line; 0 events before it are sound`, 0},
		{"null", "null\n", `h:1: "index" is missing; 0 events before it are sound`, 0},
		{"two objects", strings.TrimSpace(good) + good,
			`h:1: "{\"index\":0,\"time\":1,\"process\":2,\"worker\"…" follows the JSON object, want one object per line; 0 events before it are sound`, 0},
		{"truncated", good + good[:30], `h:2: the last line is truncated, its writer was probably killed; 1 event before it is sound`, 1},
		{"incomplete inside", good + good[:30] + "\n" + good, `h:2: the JSON object is incomplete, want one per line; 1 event before it is sound`, 1},
		{"last line bad, not truncated", good + "{]", `h:2: byte 2: invalid character ']' looking for beginning of object key string, want one JSON object per line; 1 event before it is sound`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, err := ReadJSONL(strings.NewReader(tt.file), "h")
			wantErr(t, err, tt.want)
			if len(events) != tt.events {
				t.Errorf("%d events, want %d", len(events), tt.events)
			}
			if truncated := strings.HasPrefix(tt.name, "truncated"); errors.Is(err, ErrTruncated) != truncated {
				t.Errorf("errors.Is(ErrTruncated) = %v", !truncated)
			}
		})
	}
}

// TestLineTooLong checks that a line of a gigabyte takes no more memory than one of a few
// megabytes, and that what follows it can be read.
func TestLineTooLong(t *testing.T) {
	file := func(rest io.Reader) io.Reader {
		return io.MultiReader(strings.NewReader(soundLine("")), io.LimitReader(zeros{}, 1<<30), rest)
	}
	const told = "h:2: the line is longer than 16 MiB, want one event; 1 event before it is sound"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	events, err := ReadJSONL(file(iotest.ErrReader(errors.New("read on"))), "h")
	wantErr(t, err, told)
	if len(events) != 1 {
		t.Errorf("%d events, want 1", len(events))
	}
	var skipped []string
	d := Decoder{Name: "h", Skip: func(e *LineError) { skipped = append(skipped, e.Error()) }}
	events, err = d.all(file(strings.NewReader("\n" + soundLine("") + "{}\n")))
	want := []string{told, `h:4: "index" is missing; 2 events before it are sound`}
	if diff := cmp.Diff(want, skipped); err != nil || len(events) != 2 || diff != "" {
		t.Errorf("%d events, %v, skipped (-want +got):\n%s", len(events), err, diff)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 16*maxLine {
		t.Errorf("%d MiB were allocated in all", taken>>20)
	}
	if _, err := d.all(file(iotest.ErrReader(io.ErrClosedPipe))); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestReadJSONLBrokenReader(t *testing.T) {
	broken := errors.New("input/output error")
	events, err := ReadJSONL(io.MultiReader(strings.NewReader(soundLine("")+`{"index"`), iotest.ErrReader(broken)), "h")
	wantErr(t, err, "h:2: cannot read on: input/output error; 1 event before it is sound")
	if !errors.Is(err, broken) || errors.Is(err, ErrTruncated) || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

func TestDecodeStops(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	err := (&Decoder{Name: "h"}).Decode(strings.NewReader(strings.Repeat(soundLine(""), 5)), func(Event) error {
		if n++; n == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || err.Error() != "enough" || n != 3 {
		t.Errorf("%d events, %v; want 3 and the callback's own error", n, err)
	}
}

// A killed writer can stop at any byte. What is left must read as a prefix.
func TestTruncatedAnywhere(t *testing.T) {
	events := goldenEvents()
	var file bytes.Buffer
	if err := WriteJSONL(&file, events); err != nil {
		t.Fatal(err)
	}
	all := file.Bytes()
	for cut := range len(all) + 1 {
		left := all[:cut]
		whole := bytes.Count(left, []byte("\n"))
		clean := cut == 0 || all[cut-1] == '\n'
		if cut < len(all) && all[cut] == '\n' { // only the newline is gone: the object is whole
			whole, clean = whole+1, true
		}
		got, err := ReadJSONL(bytes.NewReader(left), "h")
		if diff := cmp.Diff(events[:whole], got, cmp.Transformer("", func(e []Event) []Event { return append([]Event{}, e...) })); diff != "" {
			t.Fatalf("cut at byte %d (-want +got):\n%s", cut, diff)
		}
		if clean && err != nil || !clean && !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at byte %d: error %v", cut, err)
		}
	}
}

func TestWriteJSONLErrors(t *testing.T) {
	wantErr(t, WriteJSONL(io.Discard, []Event{{}, {Index: 1, Type: 5}}), `event 1: "type" is "Type(5)", want invoke, ok, fail or info`)
	full := errors.New("full")
	if err := WriteJSONL(&disk{err: full}, goldenEvents()); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the writer", err)
	}
}

// Both parsers must agree on whatever the quick one accepts.
func checkPlain(t *testing.T, line []byte) {
	t.Helper()
	quick, ok := parsePlain(line, nil)
	if !ok {
		return
	}
	e, err := parseAny(line)
	if err != nil || e != quick {
		t.Fatalf("%s: the quick parser found %v, encoding/json %v, %v", line, quick, e, err)
	}
}

func TestParsePlainTakesWhatWeWrite(t *testing.T) {
	for _, e := range sections(20) {
		line := appendEvent(nil, &e)
		if got, ok := parsePlain(line, nil); !ok || got != e {
			t.Fatalf("%s: %v, %v", line, got, ok)
		}
		for i := range line { // damaged in every place
			checkPlain(t, line[:i])
			for _, c := range []byte("0-\"\\ }\x80") {
				damaged := bytes.Clone(line)
				damaged[i] = c
				checkPlain(t, damaged)
			}
		}
	}
}

// What other writers do: blanks, another order, texts that we would escape.
func TestParsePlainTakesWhatOthersWrite(t *testing.T) {
	want := Event{Index: 7, Time: -5, Process: 1, Worker: 2, Type: OK, F: "sweep", Key: "Läufer <1>", Attempt: 9, Value: "锁"}
	for _, line := range []string{
		`{"index": 7, "time": -5, "process": 1, "worker": 2, "type": "ok", "f": "sweep", "key": "Läufer <1>", "attempt": 9, "value": "锁"}`,
		"\t{ \"value\" :\"锁\",\"attempt\": 9,\"key\":\"Läufer <1>\" ,\"f\":\r\"sweep\",\"type\":\"ok\",\"worker\":2,\"process\":1,\"time\":-5,\"index\":7 } \n",
	} {
		if got, ok := parsePlain([]byte(line), nil); !ok || got != want {
			t.Errorf("%s: %v, %v", line, got, ok)
		}
		checkPlain(t, []byte(line))
	}
	sound := strings.TrimSuffix(strings.TrimSpace(soundLine("")), "}")
	for _, more := range []string{
		"", ",}", `,"f":"read"}`, `,"token":1,"token":1}`, `,"Token":1}`, `,"lease":1}`, `,"token":- 1}`, `,"token":01}`, `,"token":1.0}`,
		`,"attempt":-1}`, `,"key":"\u0041"}`, ",\"key\":\"\xff\"}", ",\"key\":\"\n\"}", `,"key":null}`, "}}", "} {}", "}\f",
	} {
		if e, ok := parsePlain([]byte(sound+more), nil); ok {
			t.Errorf("%s was taken for %v", sound+more, e)
		}
	}
	if _, ok := parsePlain([]byte(sound+"}"), nil); !ok {
		t.Errorf("%s} is not taken", sound)
	}
	for time, want := range map[string]bool{"1763800000000000000": true, "9223372036854775807": true, "9223372036854775808": false, "92233720368547758070": false} {
		line := fmt.Sprintf(`{"index":1,"time":%s,"process":1,"worker":1,"type":"ok","f":"read"}`, time)
		if e, ok := parsePlain([]byte(line), nil); ok != want || ok && fmt.Sprint(int64(e.Time)) != time {
			t.Errorf("%s: %v, %v", line, e, ok)
		}
	}
	if e, ok := parsePlain([]byte(`{"index":1,"time":1,"process":1,"type":"ok","f":"read"}`), nil); ok {
		t.Errorf("without a worker: %v", e)
	}
}

func FuzzReadJSONL(f *testing.F) {
	var file bytes.Buffer
	if err := WriteJSONL(&file, goldenEvents()); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:file.Len()-7])
	f.Add([]byte(soundLine(`,"key":"\ud800<\u2028","Attempt":1e0`)))
	f.Add([]byte("{ \"f\": \"read\", \"index\": 0, \"time\": 1, \"worker\": 0, \"process\": 0,\t\"type\": \"ok\" }\n"))
	f.Add([]byte("\n\r\n null {}"))
	for _, number := range []string{"1763800000000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615"} {
		f.Add(fmt.Appendf(nil, `{"index":0,"time":%s,"process":%[1]s,"worker":%[1]s,"type":"invoke","f":"acquire","key":"k","attempt":%[1]s,"ttl":%[1]s,"version":%[1]s}`, number))
	}
	f.Add([]byte(soundLine("") + `{"index":1,"ti` + soundLine("")))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := ReadJSONL(bytes.NewReader(data), "fuzz")
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz:") {
			t.Fatalf("the error names no line: %v", err)
		}
		for line := range bytes.Lines(data) {
			checkPlain(t, line)
		}
		checkChunks(t, data)
		var again bytes.Buffer
		if err := WriteJSONL(&again, events); err != nil {
			t.Fatal(err)
		}
		got, err := ReadJSONL(&again, "again")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events, got); diff != "" {
			t.Fatalf("read, written and read again (-want +got):\n%s", diff)
		}
	})
}
