package histories

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormatOf(t *testing.T) {
	tests := []struct {
		name, head string
		want       Format
	}{
		{"history.jsonl", "[", JSONL},
		{"history.EDN", "{", EDN},
		{"jepsen.log", "", JepsenLog},
		{"history", "", JSONL},
		{"history", soundLine(""), JSONL},
		{"history", ` { "index" : null`, JSONL},
		{"history.txt", "{:type :ok}", EDN},
		{"history.txt", `{"type" :ok}`, EDN},
		{"history.txt", `{"type" "ok"}`, EDN},
		{"history.txt", "; a comment\n[", EDN},
		{"history.txt", "#jepsen.history.Op{", EDN},
		{"history.txt", "\n({:type", EDN},
		{"history.txt", "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n", JepsenLog},
		{"history.txt", "what?", JSONL},
	}
	for _, tt := range tests {
		if got := formatOf(tt.name, []byte(tt.head)); got != tt.want {
			t.Errorf("%s beginning with %q is %q, want %q", tt.name, tt.head, got, tt.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("run directory", func(t *testing.T) {
		d := create(t, t.TempDir(), goldenMeta())
		if err := WriteJSONL(d.HistoryFile(), goldenEvents()); err != nil {
			t.Fatal(err)
		}
		if err := d.Recorded(goldenMeta()); err != nil {
			t.Fatal(err)
		}
		file, err := ReadFile(d.Path(), false)
		if err != nil {
			t.Fatal(err)
		}
		if file.Meta == nil || file.Meta.Phase != PhaseRecorded || file.Path != filepath.Join(d.Path(), EventsFile) || file.Format != JSONL {
			t.Errorf("%+v", file)
		}
		if diff := cmp.Diff(goldenEvents(), file.Events); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("no file", func(t *testing.T) {
		if _, err := ReadFile(filepath.Join(dir, "nothing"), false); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no run directory", func(t *testing.T) {
		_, err := ReadFile(dir, false)
		if err == nil || !strings.Contains(err.Error(), "want a run directory") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("strict", func(t *testing.T) {
		file, err := ReadFile(write("a.jsonl", soundLine("")+"x\n"+soundLine("")), false)
		var line *LineError
		if !errors.As(err, &line) || line.Line != 2 || line.Sound != 1 || len(file.Events) != 1 {
			t.Errorf("%d events, %v", len(file.Events), err)
		}
	})
	lenient := map[string]string{
		"a.jsonl": soundLine("") + "x\n{}\n" + soundLine("") + soundLine("")[:20],
		"a.edn":   "{:type :ok :f :a :process 1}\n{:type :okay}\n}}}\n{:type :ok :f :a :process 1}\n{:type",
		"b.edn":   "[{:type :ok :f :a :process 1}\n{:type :okay}\n} {\n{:type :ok :f :a :process 1}\n",
		"a.log":   "INFO jepsen.util - 0 :ok :a nil\njepsen.util - 0 :okay :a nil\njepsen.util - 0 :ok :a [\nother\njepsen.util - 0 :ok :a 1\njepsen.util - 0 :ok :a \n",
	}
	for name, text := range lenient {
		t.Run("lenient "+name, func(t *testing.T) {
			file, err := ReadFile(write(name, text), true)
			if err != nil || len(file.Events) != 2 || file.Events[1].Index != 1 {
				t.Fatalf("%v, %v", file, err)
			}
			var skipped []int
			for _, s := range file.Skipped {
				skipped = append(skipped, s.Line, s.Sound)
			}
			last := 5
			if name == "a.log" {
				last = 6
			}
			if diff := cmp.Diff([]int{2, 1, 3, 1, last, 2}, skipped); diff != "" {
				t.Errorf("skipped lines with sound events before (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuessIsEnoughAndNotTooMuch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteJSONL(f, sections(2000)), f.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := ReadFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(file.Events); n != 16000 || cap(file.Events) > 2*n {
		t.Errorf("room for %d events, of which there are %d", cap(file.Events), n)
	}
}

func TestReadJepsenLog(t *testing.T) {
	const log = "INFO  jepsen.core - Worker 0 starting\n" +
		"INFO  jepsen.util - 0\t:invoke\t:cas\t[3 0]\n" +
		"2016-01-02 03:04:05,678{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:fail\t:cas\t[3 0]\t:timed-out\r\n" +
		"INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n" +
		"INFO  jepsen.util - :nemesis\t:info\t:start\t\"Cut off {:n1 #{:n2}}\"\n" +
		"INFO  jepsen.util - 5\t:ok\t:read\tnil"
	want := []Event{
		{Type: Invoke, F: "cas", Value: "[3 0]"},
		{Index: 1, Time: 1, Type: Fail, F: "cas", Value: "[3 0]", Err: ":timed-out"},
		{Index: 2, Time: 2, Process: Nemesis, Type: Invoke, F: "start"},
		{Index: 3, Time: 3, Process: Nemesis, Type: OK, F: "start", Value: "Cut off {:n1 #{:n2}}"},
		{Index: 4, Time: 4, Process: 5, Worker: 5, Type: OK, F: Read},
	}
	got, err := (&Decoder{Name: "h", Format: JepsenLog}).all(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadJepsenLogErrors(t *testing.T) {
	const begin = "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - "
	for line, want := range map[string]string{
		"0\t:okay\t:read\tnil":                  `"type" is "okay", want invoke, ok, fail or info`,
		"99999999999999999999\t:ok\t:read\tnil": `"process" is 99999999999999999999, want an integer or :nemesis`,
		"0\t:ok\t:read\t":                       `"value" is missing`,
		"0\t:ok\t:read\t[1":                     `the value "[1" is cut short, want EDN`,
		"0\t:ok\t:read\t}":                      `the value "}" is not EDN: found '}', which closes nothing`,
		"0\t:ok\t:read\t1 2x":                   `the value "1 2x" is not EDN: "2x" is no number`,
	} {
		events, err := (&Decoder{Name: "h", Format: JepsenLog}).all(strings.NewReader(begin + line))
		wantErr(t, err, "h:2: "+want+"; 1 event before it is sound")
		if len(events) != 1 {
			t.Errorf("%d events, want 1", len(events))
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	_, err := (&Decoder{Name: "h", Format: "xml"}).all(strings.NewReader(""))
	wantErr(t, err, `format is "xml", want one of [jsonl edn jepsen-log csv calls]`)
	_, err = NewEncoder(nil, JepsenLog)
	wantErr(t, err, `format is "jepsen-log", want jsonl or edn`)
}

func TestElements(t *testing.T) {
	for value, want := range map[string][]string{
		"[3 0]": {"3", "0"}, `(nil "a b" [1])`: {"", "a b", "[1]"}, "[]": {}, "": nil, "3": nil, "[1": nil, "[1] [2]": nil,
	} {
		if diff := cmp.Diff(want, Elements(value)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}
