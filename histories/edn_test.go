package histories

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestGoldenEDN(t *testing.T) {
	var file bytes.Buffer
	if err := writeEDN(&file, goldenEvents()); err != nil {
		t.Fatal(err)
	}
	golden(t, "history.edn", file.Bytes())
}

func TestEDNRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	events := goldenEvents()
	for range 500 {
		events = append(events, valid(randomEvent(r)))
	}
	events = append(events, Event{F: Write, Key: strings.Repeat("k", 1<<20), Value: strings.Repeat("\n", 1<<20)})
	var file bytes.Buffer
	if err := writeEDN(&file, events); err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(file.Bytes(), []byte("\n")); lines != len(events) {
		t.Errorf("%d lines for %d events", lines, len(events))
	}
	vector := append(append([]byte{'['}, file.Bytes()...), ']')
	for name, in := range map[string]io.Reader{
		"whole":      bytes.NewReader(file.Bytes()),
		"half reads": iotest.HalfReader(bytes.NewReader(file.Bytes())),
		"vector":     bytes.NewReader(vector),
	} {
		got, err := readEDN(in, name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Whatever a history holds, EDN and JSON hold the same.
func TestEDNHoldsWhatJSONLHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom(append(hostile(),
			"nil", "true", "-1", "007", "1N", ":k", ":", "[1 2]", "[1  2]", "(a)", "{:a 1}", "#{1}", "#a b", "#_1 2", `["x"]`, "{} {}")))
		e := valid(Event{
			Index: rapid.Int().Draw(t, "index"), Time: -1, Process: rapid.IntRange(-3, 3).Draw(t, "process"),
			Worker: rapid.IntRange(-1, 3).Draw(t, "worker"), Type: Type(rapid.IntRange(0, 3).Draw(t, "type")),
			F:   F(rapid.OneOf(text, rapid.SampledFrom([]string{"acquire", "lost", "audit", "kill"})).Draw(t, "f")),
			Key: text.Draw(t, "key"), Attempt: rapid.Uint64().Draw(t, "attempt"), Token: rapid.Int64().Draw(t, "token"),
			Value: text.Draw(t, "value"), Node: text.Draw(t, "node"), Err: text.Draw(t, "error"),
		})
		if e.Single() {
			e.Type = Info
		}
		got, err := readEDN(bytes.NewReader(appendEDN(nil, &e)), "h")
		if err != nil {
			t.Fatalf("%s: %v", appendEDN(nil, &e), err)
		}
		if diff := cmp.Diff([]Event{e}, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", appendEDN(nil, &e), diff)
		}
	})
}

// What Jepsen, Knossos and their users write.
func TestReadEDNForeign(t *testing.T) {
	tests := []struct {
		name, file string
		want       []Event
	}{
		{"nothing", " \n ; nothing\n", nil},
		{"no operations", "[]", nil},
		{"record", `#jepsen.history.Op{:index 5, :time 7, :type :ok, :process 3, :f :cas, :value [3 0], :error [:x "y"]}`,
			[]Event{{Index: 5, Time: 7, Process: 3, Worker: 3, Type: OK, F: "cas", Value: "[3 0]", Err: `[:x "y"]`}}},
		{"strings", `{"type" "invoke" "f" "write" "process" 1 "value" "2"}`,
			[]Event{{Process: 1, Worker: 1, Type: Invoke, F: Write, Value: "2"}}},
		{"list with comments", "({:type :invoke, :f :write, :value 0, :process 0}\n ; Value is 0\n #_{:bad :one} {:type :ok, :f :write, :value nil, :process 0}\n)",
			[]Event{{Type: Invoke, F: Write, Value: "0"}, {Index: 1, Type: OK, F: Write}}},
		{"many lines", "{:type\n:ok,:f :read\n:process 2 :value 9N}\n{:type :info :f :read :process 2 :value :timed-out :time -1}",
			[]Event{{Process: 2, Worker: 2, Type: OK, F: Read, Value: "9"}, {Index: 1, Process: 2, Worker: 2, F: Read, Value: ":timed-out"}}},
		{"nemesis", `[{:process :nemesis :type :info :f :split :value nil :time 1} {:process :nemesis :type :info :f :split :value :done :time 2}
			{:process :nemesis :type :info :f :split :time 3}]`,
			[]Event{
				{Time: 1, Process: Nemesis, Type: Invoke, F: "split"},
				{Index: 1, Time: 2, Process: Nemesis, Type: OK, F: "split", Value: ":done"},
				{Index: 2, Time: 3, Process: Nemesis, Type: Invoke, F: "split"},
			}},
		{"namespace", `#:lockbench{:worker 4, :key "k", :user/x 1, "y" 2, :_/type 1 :attempt 3}`, nil},
		{"other keys", `{:type :ok :f :read :process 1 :node "n1" :key 5 [1] 2 :db/worker 3 nil nil #:a{:b 1} \newline :value {:a #{1} :b (x "y" 1.5 \c)}}`,
			[]Event{{Process: 1, Worker: 1, Type: OK, F: Read, Value: `{:a #{1}, :b (x "y" 1.5 \c)}`}}},
		{"escapes", `{:type :ok :f :read :process 1 :value "\t\"\\\u00e9\ud83d\ude00\ud800"}`,
			[]Event{{Process: 1, Worker: 1, Type: OK, F: Read, Value: "\t\"\\é😀\ufffd"}}},
		{"an object that Clojure prints", `{:type :ok :f :read :process 1 :value #object[java.lang.Object 0x6d06d69c "java.lang.Object@6d06d69c"] :ratio 1/2}`,
			[]Event{{Process: 1, Worker: 1, Type: OK, F: Read, Value: `#object [java.lang.Object 0x6d06d69c "java.lang.Object@6d06d69c"]`}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readEDN(strings.NewReader(tt.file), "h")
			if tt.name == "namespace" {
				wantErr(t, err, `h:1: "type" is missing; 0 events before it are sound`)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A client's op is invoked and completed once; the nemesis and what stands alone are no
// clients. So Jepsen can pair what we write.
func TestJepsenCanPairWhatWeWrite(t *testing.T) {
	var file bytes.Buffer
	if err := writeEDN(&file, goldenEvents()); err != nil {
		t.Fatal(err)
	}
	in := newFormReader(&file)
	for range goldenEvents() {
		f, err := in.next()
		if err != nil {
			t.Fatal(err)
		}
		op := map[string]form{}
		for i := 0; i < len(f.items); i += 2 {
			op[f.items[i].text] = f.items[i+1]
		}
		for _, key := range []string{"index", "time", "type", "process", "f", "value"} {
			if _, ok := op[key]; !ok {
				t.Errorf("%s has no :%s", appendForm(nil, f), key)
			}
		}
		if client := op["process"].kind == formInt; !client && op["type"].text != "info" {
			t.Errorf("%s is no client's and not :info", appendForm(nil, f))
		} else if client && F(op["f"].text).single() {
			t.Errorf("%s completes nothing", appendForm(nil, f))
		}
	}
}

func TestReadEDNErrors(t *testing.T) {
	const good = "{:type :ok, :f :read, :process 1}\n"
	const wantOp = ", want one operation as {:type :invoke, :f ...}"
	tests := []struct {
		name, file, want string
		events           int
	}{
		{"type", good + "{:type :okay, :f :read, :process 1}", `h:2: "type" is "okay", want invoke, ok, fail or info; 1 event before it is sound`, 1},
		{"type number", "{:type 1, :f :read, :process 1}", `h:1: "type" is 1, want invoke, ok, fail or info; 0 events before it are sound`, 0},
		{"no type", "{:f :read :process 1}", `h:1: "type" is missing; 0 events before it are sound`, 0},
		{"no f", "{:type :ok :process 1}", `h:1: "f" is missing; 0 events before it are sound`, 0},
		{"no process", "{:type :ok :f :read}", `h:1: "process" is missing; 0 events before it are sound`, 0},
		{"f", "{:type :ok :f nil :process 1}", `h:1: "f" is nil, want a keyword or a string; 0 events before it are sound`, 0},
		{"process", "{:type :ok :f :read :process 1.5}", `h:1: "process" is 1.5, want an integer or :nemesis; 0 events before it are sound`, 0},
		{"time", "{:time \"1\" :type :ok :f :read :process 1}", `h:1: "time" is "1", want an integer; 0 events before it are sound`, 0},
		{"big", "{:time 9223372036854775808 :type :ok :f :read :process 1}", `h:1: "time" is 9223372036854775808, want an integer; 0 events before it are sound`, 0},
		{"attempt", "{:lockbench/attempt -1 :type :ok :f :read :process 1}", `h:1: "lockbench/attempt" is -1, want an integer from 0 up; 0 events before it are sound`, 0},
		{"key", "{:lockbench/key :k}", `h:1: "lockbench/key" is :k, want a string; 0 events before it are sound`, 0},
		{"ours", "{:lockbench/atempt 1}", `h:1: unknown field "lockbench/atempt", want ` + ourFields + `; 0 events before it are sound`, 0},
		{"twice", `{:type :ok "type" :ok}`, `h:1: "type" stands there twice; 0 events before it are sound`, 0},
		{"no map", good + "\n[1]", "h:3: found a vector" + wantOp + "; 1 event before it is sound", 1},
		{"odd", "{:type}", "h:1: the map has a key without a value" + wantOp + "; 0 events before it are sound", 0},
		{"closer", good + "}", "h:2: found '}', which closes nothing" + wantOp + "; 1 event before it is sound", 1},
		{"wrong closer", "[{:a [1}]", "h:1: found '}', want ']'" + wantOp + "; 0 events before it are sound", 0},
		{"number", "[{:a 1x}]", `h:1: "1x" is no number` + wantOp + "; 0 events before it are sound", 0},
		{"bytes", "\x00@", `h:1: "@" is no EDN` + wantOp + "; 0 events before it are sound", 0},
		{"deep", strings.Repeat("[", deepest+2), "h:1: values are nested more than 200 deep" + wantOp + "; 0 events before it are sound", 0},
		{"truncated", good + good[:20], "h:2: the last line is truncated, its writer was probably killed; 1 event before it is sound", 1},
		{"truncated vector", "[" + good, "h:2: the last line is truncated, its writer was probably killed; 1 event before it is sound", 1},
		{"truncated long ago", good + "{:a \"" + good + good, "h:2: the operation that begins here has no end: the last line is truncated, its writer was probably killed; 1 event before it is sound", 1},
		{"after the vector", "[" + good + "]\n" + good, "h:3: something follows the vector, want one vector, or one map per line; 1 event before it is sound", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, err := readEDN(strings.NewReader(tt.file), "h")
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

func TestReadEDNBrokenReader(t *testing.T) {
	broken := errors.New("input/output error")
	for _, begin := range []string{"", "{:type", `{:a "`, "[{:a 1} }"} {
		_, err := (&Decoder{Name: "h", Format: EDN, Skip: func(*LineError) {}}).all(io.MultiReader(strings.NewReader(begin), iotest.ErrReader(broken)))
		wantErr(t, err, "h:1: cannot read on: input/output error; 0 events before it are sound")
		if !errors.Is(err, broken) {
			t.Errorf("error %v, want that of the reader", err)
		}
	}
}

func TestReadEDNTooBig(t *testing.T) {
	file := io.MultiReader(strings.NewReader(`{:a "`), io.LimitReader(zeros{}, maxLine*2))
	_, err := readEDN(file, "h")
	wantErr(t, err, "h:1: the value is longer than 16 MiB, want one operation, want one operation as {:type :invoke, :f ...}; 0 events before it are sound")
}

func TestWriteEDNErrors(t *testing.T) {
	wantErr(t, writeEDN(io.Discard, []Event{{}, {Index: 1, Type: 5}}), `event 1: "type" is "Type(5)", want invoke, ok, fail or info`)
	full := errors.New("full")
	if err := writeEDN(&disk{err: full}, goldenEvents()); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the writer", err)
	}
}

func FuzzReadEDN(f *testing.F) {
	var file bytes.Buffer
	if err := writeEDN(&file, goldenEvents()); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:file.Len()-7])
	f.Add([]byte(`[#jepsen.history.Op{"type" :ok, :f "x" :process :nemesis :value (1N 1.5M #{\a} #inst "x" ##NaN)} #_{} #:a{:b 1}]`))
	f.Add([]byte("; c\n{:type :ok :f :read :process 1 :value [1 {:a \"\\u00e9\\\\\"}]} }\n{:type"))
	f.Add([]byte("{:type :ok, :f :read, :process 9223372036854775807, :time 9223372036854775808}\n{:type :ok, :f :re{:type :info, :f :read, :process -1N}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := readEDN(bytes.NewReader(data), "fuzz")
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz:") {
			t.Fatalf("the error names no line: %v", err)
		}
		skipped := 0
		lenient, err2 := (&Decoder{Name: "fuzz", Format: EDN, Skip: func(*LineError) { skipped++ }}).all(bytes.NewReader(data))
		if err2 != nil || (skipped == 0) != (err == nil) || len(lenient) < len(events) {
			t.Fatalf("strictly %d events and %v; leniently %d, %d skipped and %v", len(events), err, len(lenient), skipped, err2)
		}
		var again bytes.Buffer
		if err := writeEDN(&again, events); err != nil {
			t.Fatal(err)
		}
		got, err := readEDN(bytes.NewReader(again.Bytes()), "again")
		if err != nil {
			t.Fatalf("%v\n%s", err, again.Bytes())
		}
		if diff := cmp.Diff(events, got); diff != "" {
			t.Fatalf("read, written and read again (-want +got):\n%s\n%s", diff, again.Bytes())
		}
	})
}

// writeEDN writes a history as Jepsen keeps it, one map per line.
func writeEDN(w io.Writer, events []Event) error { return writeAll(w, EDN, events) }

// readEDN reads a history as Jepsen keeps it.
func readEDN(r io.Reader, name string) ([]Event, error) {
	return (&Decoder{Name: name, Format: EDN}).all(r)
}
