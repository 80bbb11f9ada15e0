package picture

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// recorded are the runs that the room report keeps.
func recorded(t testing.TB) map[string]report.Run {
	t.Helper()
	runs := map[string]report.Run{}
	dirs, err := filepath.Glob("../testdata/runs/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no recorded runs", err)
	}
	for _, dir := range dirs {
		r, err := report.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		runs[filepath.Base(dir)] = r
	}
	return runs
}

func drawFigure(t testing.TB, r report.Run) string {
	t.Helper()
	var b strings.Builder
	if err := Figure(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func drawSVG(t testing.TB, r report.Run) string {
	t.Helper()
	var b strings.Builder
	if err := SVG(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./internal/report/picture -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as in %s; look at both, and if the new one is right: go test ./internal/report/picture -update\n%s", file, diff)
	}
}

func TestGolden(t *testing.T) {
	for name, r := range recorded(t) {
		t.Run(name, func(t *testing.T) { golden(t, name+".html", drawFigure(t, r)) })
	}
	t.Run("svg", func(t *testing.T) { golden(t, "failover.svg", drawSVG(t, recorded(t)["failover"])) })
}

func TestSameRunSameBytes(t *testing.T) {
	for name, r := range recorded(t) {
		figure, svg := drawFigure(t, r), drawSVG(t, r)
		if drawFigure(t, r) != figure || drawSVG(t, r) != svg {
			t.Errorf("%s is drawn in two ways", name)
		}
	}
}

// elements parses markup and returns its elements with the names of their attributes, in order.
func elements(t testing.TB, markup string) []string {
	t.Helper()
	var all []string
	d := xml.NewDecoder(strings.NewReader(markup))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("not well formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			name := e.Name.Local
			for _, a := range e.Attr {
				name += " " + a.Name.Local
			}
			all = append(all, name)
		}
	}
}

func TestWellFormed(t *testing.T) {
	for name, r := range recorded(t) {
		for _, markup := range []string{drawFigure(t, r), drawSVG(t, r)} {
			if n := len(elements(t, markup)); n < 50 {
				t.Errorf("%s has %d elements", name, n)
			}
		}
	}
}

const evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>]]>&<!-- \x00\x1b[31m\u202e\xff"

// Every string of a hostile run says something in markup. It must not be heard.
func TestHostileStrings(t *testing.T) {
	r := recorded(t)["failover"]
	bad := hostile(r)
	for what, draw := range map[string]func(testing.TB, report.Run) string{"figure": drawFigure, "svg": drawSVG} {
		text := draw(t, bad)
		for _, e := range elements(t, text) {
			name, attributes, _ := strings.Cut(e, " ")
			if name == "script" || name == "img" || slices.ContainsFunc(strings.Fields(attributes), func(a string) bool { return strings.HasPrefix(a, "on") }) {
				t.Errorf("%s: a string became %s", what, e)
			}
		}
		if strings.ContainsAny(text, "\x00\x1b\u202e") {
			t.Errorf("%s has control characters", what)
		}
		if !strings.Contains(text, "&lt;script&gt;") {
			t.Errorf("%s does not show what the strings are", what)
		}
	}
}

// hostile replaces every string of a run.
func hostile(r report.Run) report.Run {
	r.Scenario = evil
	r.Events = slices.Clone(r.Events)
	for i := range r.Events {
		e := &r.Events[i]
		e.Key, e.Err, e.Value = evil, evil, evil
		if e.Node != "" {
			e.Node += evil
		}
		if e.Process == histories.Nemesis {
			e.F += histories.F(evil)
		}
	}
	r.Exchanges = slices.Clone(r.Exchanges)
	for i := range r.Exchanges {
		x := &r.Exchanges[i]
		x.Node, x.Command, x.Reply, x.Note = x.Node+evil, x.Command+" "+evil, x.Reply+evil, evil
	}
	r.Results = slices.Clone(r.Results)
	for i := range r.Results {
		r.Results[i].Story, r.Results[i].Property = evil, checker.Property(evil)
	}
	return r
}

// Labels of one line must not run into each other.
func TestLabelsDoNotOverlap(t *testing.T) {
	runs := recorded(t)
	runs["random"] = synthetic(5000, 8, 3)
	for name, r := range runs {
		s := newScene(r, mostEvents)
		seen := 0
		for _, l := range s.lanes {
			ends := map[string]float64{}
			for _, m := range l.marks {
				if !m.beside() || m.hidden || m.label == "" {
					continue
				}
				seen++
				line := fmt.Sprint(m.row, m.at)
				x := s.axis.px(m.from)
				if x < ends[line] {
					t.Errorf("%s, lane %s: label %q at %v begins before the one at its left ends, at %v", name, l.name, m.label, x, ends[line])
				}
				ends[line] = x + width(m.label)
				if ends[line] > s.axis.width {
					t.Errorf("%s, lane %s: label %q ends behind the picture", name, l.name, m.label)
				}
			}
			levels := map[int]float64{}
			for _, m := range l.marks {
				if m.row != holdRow || m.f == "lease" {
					continue
				}
				if x := s.axis.px(m.from); x+0.1 < levels[m.level] && m.level < maxLevels-1 {
					t.Errorf("%s, lane %s: bar %q overlaps another", name, l.name, m.label)
				}
				levels[m.level] = s.axis.px(m.to)
			}
		}
		if seen == 0 {
			t.Errorf("%s shows no label", name)
		}
	}
}

func TestAxisIsMonotone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var times []time.Duration
		var demands []demand
		for range 1 + random.IntN(60) {
			times = append(times, time.Duration(random.Int64N(int64(1)<<random.IntN(40)+1)))
		}
		for range random.IntN(20) {
			demands = append(demands, demand{times[random.IntN(len(times))], times[random.IntN(len(times))], 200 * random.Float64()})
		}
		a := newAxis(times, 6, demands)
		a.stretch(1000)
		for i := 1; i < len(a.times); i++ {
			if a.times[i] <= a.times[i-1] || a.x[i] <= a.x[i-1] {
				t.Fatalf("instant %v at %v, then %v at %v", a.times[i-1], a.x[i-1], a.times[i], a.x[i])
			}
		}
		for _, d := range demands {
			if d.from < d.to && a.px(d.to)-a.px(d.from) < d.px-1 {
				t.Errorf("%v to %v has %v px, want %v", d.from, d.to, a.px(d.to)-a.px(d.from), d.px)
			}
		}
	}
}

// synthetic is a run of clients that take turns, and now and then hold a lock together.
func synthetic(events, clients, keys int) report.Run {
	r := report.Run{}
	r.Scenario = "synthetic"
	random := rand.New(rand.NewPCG(3, 4))
	now := time.Duration(0)
	put := func(e histories.Event) int {
		now += time.Duration(1 + random.Int64N(2e6))
		e.Index, e.Time = len(r.Events), now
		if e.Deadline > 0 {
			e.Deadline += now
		}
		r.Events = append(r.Events, e)
		return e.Index
	}
	call := func(e histories.Event, outcome histories.Type) (first, last int) {
		e.Type = histories.Invoke
		first = put(e)
		e.Type = outcome
		if e.F == histories.Acquire && outcome == histories.OK {
			e.Deadline = 3 * time.Second
		}
		return first, put(e)
	}
	version := make([]int64, keys)
	for n := 0; len(r.Events) < events; n++ {
		k := random.IntN(keys)
		e := histories.Event{Process: n % clients, Worker: n % clients, Key: fmt.Sprintf("orders/%d", k), Attempt: uint64(n + 1), TTL: 3 * time.Second, F: histories.Acquire}
		if n%50 == 7 {
			put(histories.Event{Process: histories.Nemesis, Worker: -1, F: "pause", Node: histories.WorkerName(n % clients), Type: histories.Invoke, Value: "client stands still"})
		}
		first, _ := call(e, histories.OK)
		sent := r.Events[first].Time
		r.Exchanges = append(r.Exchanges, histories.Exchange{Sent: sent, Replied: now, Client: histories.WorkerName(e.Worker), Node: "master", Conn: 1, Seq: n, Command: fmt.Sprintf("SET %s %04x… NX PX 3000", e.Key, n), Reply: "OK"})
		e.F, e.TTL, e.Version = histories.Write, 0, version[k]
		version[k]++
		call(e, histories.OK)
		if n%50 == 7 {
			put(histories.Event{Process: histories.Nemesis, Worker: -1, F: "pause", Node: histories.WorkerName(n % clients), Type: histories.OK})
		}
		e.F, e.Version = histories.Release, 0
		first, _ = call(e, histories.OK)
		sent = r.Events[first].Time
		r.Exchanges = append(r.Exchanges, histories.Exchange{Sent: sent, Replied: now, Client: histories.WorkerName(e.Worker), Node: "master", Conn: 1, Seq: n, Command: fmt.Sprintf("DEL %s", e.Key), Reply: "1"})
	}
	return r
}

// violated adds a violation whose window is given.
func violated(r report.Run, window checker.Window, witness ...int) report.Run {
	r.Verdict = checker.Fail
	r.Results = []checker.Result{{Property: checker.StrictExclusion, Verdict: checker.Fail, Witness: witness, Window: &window, Story: "Two held it."}}
	return r
}

// However long a run is, its picture stays within the limit, and shows the violation.
func TestLimitOfBytes(t *testing.T) {
	long := synthetic(100_000, 8, 3)
	many := synthetic(20_000, 200, 50)
	huge := synthetic(2000, 4, 2)
	for i := range huge.Events {
		huge.Events[i].Key += strings.Repeat("<é", 1<<9)
		huge.Events[i].Value = strings.Repeat("&", 1<<12)
		huge.Events[i].Node = strings.Repeat("'", 1<<9)
	}
	key := strings.Repeat("k", 1<<20)
	for i := range huge.Events[:20] {
		huge.Events[i].Key = key
	}
	for name, r := range map[string]report.Run{
		"1e5 events":              violated(long, checker.Window{First: 50_001, Last: 50_020}, 50_004, 50_010),
		"1e5 events, long window": violated(long, checker.Window{First: 1, Last: 99_000}, 10, 98_990),
		"no violation":            long,
		"200 clients, 50 keys":    violated(many, checker.Window{First: 9_000, Last: 9_100}, 9_010, 9_090),
		"huge strings":            violated(huge, checker.Window{First: 100, Last: 140}, 105, 120),
	} {
		text := drawFigure(t, r)
		if len(text) > mostBytes || len(drawSVG(t, r)) > mostBytes {
			t.Errorf("%s: %d bytes, want at most %d", name, len(text), mostBytes)
		}
		if n := strings.Count(text, `class="mark `); n < 50 {
			t.Errorf("%s: shows %d marks", name, n)
		}
		if !strings.Contains(text, "picture-strip") || !strings.Contains(text, fmt.Sprintf(" of the run&#39;s %d events", len(r.Events))) {
			t.Errorf("%s: does not say that it is a part", name)
		}
		if name != "no violation" && (!strings.Contains(text, " proof") || !strings.Contains(text, "Two held it.")) {
			t.Errorf("%s: does not show the violation", name)
		}
		elements(t, text)
	}
}

// Damaged histories are drawn as far as they go.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	whole := recorded(t)
	for _, name := range []string{"failover", "crash", "held-delete", "failover-redlock"} {
		for range 40 {
			r := whole[name]
			r.Events, r.Exchanges = slices.Clone(r.Events), slices.Clone(r.Exchanges)
			for range 1 + random.IntN(8) {
				i := random.IntN(len(r.Events))
				switch e := &r.Events[i]; random.IntN(7) {
				case 0:
					r.Events = slices.Delete(r.Events, i, i+1)
				case 1:
					e.Type = histories.Type(random.IntN(6))
				case 2:
					e.Time = time.Duration(random.Int64())
				case 3:
					e.Index = random.IntN(100) - 50
				case 4:
					e.Worker, e.Process = random.IntN(100)-50, random.IntN(100)-50
				case 5:
					e.F, e.Deadline, e.Version = "", -time.Hour, -9
				case 6:
					random.Shuffle(len(r.Events), func(a, b int) { r.Events[a], r.Events[b] = r.Events[b], r.Events[a] })
				}
				if len(r.Exchanges) > 0 {
					x := &r.Exchanges[random.IntN(len(r.Exchanges))]
					x.Command, x.Sent = []string{"", "SET", "EVALSHA", "DEL", "EXEC", "EXPIRE orders/42 99999999999999999999"}[random.IntN(6)], time.Duration(random.Int64())
				}
			}
			elements(t, drawFigure(t, r))
			elements(t, drawSVG(t, r))
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	text := drawFigure(t, report.Run{})
	if !strings.Contains(text, "The run recorded no events.") {
		t.Errorf("says nothing of an empty run: %s", text)
	}
	elements(t, text)
	elements(t, drawSVG(t, report.Run{}))
	r := recorded(t)["failover"]
	r.Exchanges = nil
	text = drawFigure(t, r)
	if strings.Contains(text, `data-f="held"`) || !strings.Contains(text, "no commands were recorded") {
		t.Error("without exchanges it must say that nobody knows what servers held, and draw nothing")
	}
}

// A picture must not need what a page may not load or run.
func TestNothingFromOutside(t *testing.T) {
	for name, text := range map[string]string{"style": Style(), "script": Script(), "figure": drawFigure(t, recorded(t)["failover"])} {
		for _, bad := range []string{"http:", "https:", "@import", "eval(", "innerHTML", "onclick", "javascript:"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s contains %q", name, bad)
			}
		}
	}
	if strings.Contains(Style(), "</") || strings.Contains(Script(), "</") {
		t.Error("style or script could end its element")
	}
	if strings.ContainsAny(Style(), "<&") {
		t.Error("style must stand in an SVG as it is")
	}
}

func BenchmarkFigure(b *testing.B) {
	r := violated(synthetic(100_000, 8, 3), checker.Window{First: 50_001, Last: 50_020}, 50_004, 50_010)
	b.ReportAllocs()
	for b.Loop() {
		if err := Figure(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}
