package plot_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/plot"
)

var update = flag.Bool("update", false, "write the golden files")

// sound draws a run, and checks what is true of every picture.
func sound(t rapid.TB, r report.Run) []report.Plot {
	t.Helper()
	plots, err := plot.Draw(r)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range plots {
		if p.Name == "" || p.Title == "" || p.Summary == "" || names[p.Name] {
			t.Errorf("a plot without a name, title or summary, or with another's name: %.200v", p)
		}
		names[p.Name] = true
		if p.SVG == "" {
			continue
		}
		if err := oneElement(p.SVG); err != nil {
			t.Errorf("%s: %v\n%.300s", p.Name, err, p.SVG)
		}
		if len(p.SVG) > 60_000 {
			t.Errorf("%s has %d bytes, want 60 KB or less", p.Name, len(p.SVG))
		}
		for _, broken := range []string{"NaN", "Inf", "%!", "-9223372036854775808"} {
			if strings.Contains(p.SVG+p.Summary, broken) {
				t.Errorf("%s says %s: %.500s", p.Name, broken, p.Summary)
			}
		}
	}
	return plots
}

// oneElement returns why an SVG is not one well-formed svg element that can stand in a page.
func oneElement(svg string) error {
	d := xml.NewDecoder(strings.NewReader(svg))
	for depth, n := 0, 0; ; n++ {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "svg", "title", "style", "path", "text":
			default:
				return fmt.Errorf("element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "javascript:") && a.Name.Local != "aria-label" {
					return fmt.Errorf("attribute %s", a.Name.Local)
				}
			}
			if depth == 0 && (n > 0 || e.Name.Local != "svg") {
				return errors.New("more than one element, or another than svg")
			}
			depth++
		case xml.EndElement:
			depth--
		}
	}
}

func TestGolden(t *testing.T) {
	runs := map[string]report.Run{"random": random(3000, 8, 3, time.Minute)}
	for _, name := range []string{"failover", "crash"} {
		r, err := report.Load(filepath.Join("..", "testdata", "runs", name))
		if err != nil {
			t.Fatal(err)
		}
		runs[name] = r
	}
	for name, r := range runs {
		for _, p := range sound(t, r) {
			file := filepath.Join("testdata", name+"."+p.Name+".svg")
			if p.SVG == "" {
				if _, err := os.Stat(file); err == nil {
					t.Errorf("%s is there, but nothing is drawn: %s", file, p.Summary)
				}
				continue
			}
			got := strings.ReplaceAll(p.SVG, "><", ">\n<") + "\n"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got, go test ./internal/report/plot -update writes it anew)\n%s", file, diff)
			}
		}
	}
}

func TestSameRunSameBytes(t *testing.T) {
	first := sound(t, random(2000, 30, 40, time.Minute))
	for range 5 {
		if diff := cmp.Diff(first, sound(t, random(2000, 30, 40, time.Minute))); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestWideRunsStaySmall(t *testing.T) {
	for _, size := range []struct {
		n, clients, keys int
		lasts            time.Duration
	}{{1e5, 20, 3, time.Minute}, {1e5, 200, 1000, time.Hour}, {5e4, 8, 1, time.Millisecond}} {
		r := random(size.n, size.clients, size.keys, size.lasts)
		for i := range 20_000 {
			at := time.Duration(i) * size.lasts / 20_000
			r.Exchanges = append(r.Exchanges, histories.Exchange{Sent: at, Node: fmt.Sprint("node ", i%100), Command: "PING"})
			r.Samples = append(r.Samples, histories.Sample{Time: at / 200 * 200, Process: fmt.Sprint("client ", i%200), PID: i % 200, CPU: at / 10, Resident: int64(i) << 10})
		}
		for _, p := range sound(t, r) {
			if p.SVG == "" {
				t.Errorf("%s is not drawn: %s", p.Name, p.Summary)
			}
		}
	}
}

// Many faults of many kinds still fit.
func TestManyFaults(t *testing.T) {
	r := random(2000, 5, 1, time.Minute)
	for i := range 5000 {
		at := time.Duration(i) * 10 * ms
		f := histories.F(fmt.Sprint("fault-", i%40))
		node := fmt.Sprint(i)
		r.Events = append(r.Events,
			histories.Event{Process: histories.Nemesis, Type: invoke, F: f, Node: node, Time: at},
			histories.Event{Process: histories.Nemesis, Type: ok, F: f, Node: node, Time: at + 3*ms})
	}
	sound(t, r)
}

func TestHostileNames(t *testing.T) {
	for _, name := range []string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</title></style></svg><b>", "a\x00b\x1b[31m\r\n", "\xff\xfe",
		"\u202eevil", strings.Repeat("x", 1<<20), strings.Repeat(`"`, 1<<10), "]]>", "&amp;", "'", "\U0010ffff",
	} {
		var s story
		for i := range uint64(10) {
			for n := range 10 {
				s.on(time.Duration(i)*ms, n, invoke, acquire, 10*i+uint64(n)+1)
				s.on(time.Duration(i)*ms, n, ok, acquire, 10*i+uint64(n)+1)
			}
		}
		for i := range s.events {
			s.events[i].Key = name + fmt.Sprint(i/2%10)
		}
		for i := range 8 {
			s.fault(time.Duration(i)*ms, invoke, histories.F(name+fmt.Sprint(i)), name)
			s.fault(time.Duration(i+1)*ms, ok, histories.F(name+fmt.Sprint(i)), name)
		}
		r := s.run()
		for i := range 30 {
			r.Exchanges = append(r.Exchanges, histories.Exchange{Sent: time.Duration(i) * ms, Node: name + fmt.Sprint(i), Command: name})
			r.Samples = append(r.Samples, histories.Sample{Time: time.Duration(i) * ms, Process: fmt.Sprint(i%10) + name})
		}
		for _, p := range sound(t, r) {
			for _, raw := range []string{"<script", "<img", "</style></svg><b", "\x00", "\x1b", "\u202e"} {
				if strings.Contains(p.SVG, raw) {
					t.Errorf("%s of %.40q has %q", p.Name, name, raw)
				}
			}
		}
	}
}

func TestOddHistories(t *testing.T) {
	at := func(times ...time.Duration) report.Run {
		var s story
		for i, when := range times {
			s.on(when, 0, invoke, acquire, uint64(i+1))
			s.on(when, 0, ok, acquire, uint64(i+1))
			s.fault(when, invoke, "kill", "master")
			s.fault(when, ok, "kill", "master")
		}
		return s.run()
	}
	var one story
	one.on(ms, 0, invoke, acquire, 1)
	for name, r := range map[string]report.Run{
		"one event":      one.run(),
		"one instant":    at(ms, ms, ms),
		"the beginning":  at(0, 0, 0),
		"negative":       at(-time.Hour, -time.Second, 0),
		"huge":           at(0, math.MaxInt64),
		"all there is":   at(math.MinInt64, 0, math.MaxInt64),
		"backwards":      at(time.Hour, time.Minute, time.Second),
		"only exchanges": {Exchanges: []histories.Exchange{{Sent: math.MinInt64}, {Sent: math.MaxInt64}}},
		"only samples":   {Samples: []histories.Sample{{Process: "x", Resident: math.MaxInt64, CPU: -5}, {Process: "x", Time: -5, CPU: math.MaxInt64}}},
	} {
		t.Run(name, func(t *testing.T) {
			if len(sound(t, r)) == 0 {
				t.Error("nothing is drawn or said")
			}
		})
	}
	if plots := sound(t, report.Run{}); len(plots) != 0 {
		t.Errorf("of no data there are %d plots", len(plots))
	}
}

// Whatever stands in a file, Draw neither panics nor writes what is no picture.
func TestDamagedHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.OneOf(rapid.Int64Range(0, 1e9), rapid.Int64())
		event := rapid.Custom(func(t *rapid.T) histories.Event {
			return histories.Event{
				Index: rapid.IntRange(-1, 50).Draw(t, "index"), Time: time.Duration(moment.Draw(t, "time")),
				Process: rapid.IntRange(-2, 3).Draw(t, "process"), Worker: rapid.IntRange(-1, 3).Draw(t, "worker"),
				Type:    histories.Type(rapid.IntRange(0, 5).Draw(t, "type")),
				F:       histories.F(rapid.SampledFrom([]string{"acquire", "release", "extend", "read", "crash", "lost", "kill", "audit", "count", "", "x"}).Draw(t, "f")),
				Key:     rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key"),
				Attempt: rapid.Uint64Range(0, 4).Draw(t, "attempt"), TTL: time.Duration(moment.Draw(t, "ttl")),
				Value: rapid.SampledFrom([]string{"", "read", "reenter"}).Draw(t, "value"),
			}
		})
		r := report.Run{Events: rapid.SliceOfN(event, 0, 60).Draw(t, "events")}
		sound(t, r)
	})
}
