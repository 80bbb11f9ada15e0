package plot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/plot"
)

const (
	invoke, ok, fail, info = histories.Invoke, histories.OK, histories.Fail, histories.Info
	acquire, release       = histories.Acquire, histories.Release
)

// drawn returns the plot of that name.
func drawn(t *testing.T, r report.Run, name string) report.Plot {
	t.Helper()
	plots, err := plot.Draw(r)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(plots, func(p report.Plot) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no plot %s", name)
	}
	return plots[i]
}

func wantSummary(t *testing.T, p report.Plot, want string) {
	t.Helper()
	if p.Summary != want {
		t.Errorf("summary of %s\n%s\nwant\n%s", p.Name, p.Summary, want)
	}
}

func TestGapsAndRecovery(t *testing.T) {
	var s story
	s.on(0, 0, invoke, acquire, 1)
	s.on(10*ms, 0, ok, acquire, 1) // 10 ms wanted
	s.on(20*ms, 1, invoke, acquire, 2)
	s.on(30*ms, 1, fail, acquire, 2)
	s.on(100*ms, 1, invoke, acquire, 3) // again within a lease: it wanted it since 20 ms
	s.fault(110*ms, invoke, "restart", "master")
	s.fault(150*ms, ok, "restart", "master")
	s.on(200*ms, 1, ok, acquire, 3) // 180 ms wanted, 50 ms after the fault
	s.on(210*ms, 1, invoke, release, 3)
	s.on(220*ms, 1, ok, release, 3)
	s.fault(300*ms, invoke, "pause", "C")
	s.fault(400*ms, ok, "pause", "C")
	s.on(1000*ms, 0, invoke, acquire, 4)
	s.on(1005*ms, 0, ok, acquire, 4) // 605 ms after the fault, but only 5 since anybody wanted it
	s.on(1100*ms, 2, invoke, acquire, 5)
	s.add(1180*ms, histories.Event{Process: 2, Worker: 2, Type: info, F: histories.Crash}) // 80 ms wanted
	s.on(5*time.Second, 0, invoke, release, 4)
	s.on(5300*ms, 0, ok, release, 4)
	wantSummary(t, drawn(t, s.run(), "acquisitions"), "3 acquisitions in 5.300 s; the longest time in which somebody wanted a lock and nobody got it was 180 ms, from 0.020 s on; "+
		"recovery took at most 50 ms (after restart master, which ended at 0.150 s, from the first who wanted a lock to the next acquisition).")

	s.fault(5400*ms, invoke, "kill", "master")
	s.fault(5400*ms, ok, "kill", "master")
	s.on(5500*ms, 3, invoke, acquire, 6)
	s.on(5510*ms, 3, info, acquire, 6)
	wantSummary(t, drawn(t, s.run(), "acquisitions"), "3 acquisitions in 5.510 s; the longest time in which somebody wanted a lock and nobody got it was 180 ms, from 0.020 s on; "+
		"recovery took at most 50 ms (after restart master, which ended at 0.150 s, from the first who wanted a lock to the next acquisition); none came after the end of 1 fault.")
}

// A refused client that does not ask again within the lease does not want the lock meanwhile;
// one key's grant does not help those who want another.
func TestGapsOfKeysAndOfThoseWhoGaveUp(t *testing.T) {
	var s story
	s.on(0, 0, invoke, acquire, 1)
	s.on(10*ms, 0, fail, acquire, 1)
	s.on(4*time.Second, 0, invoke, acquire, 2) // later than the lease of 3 s
	s.on(4001*ms, 0, ok, acquire, 2)
	s.on(4100*ms, 1, invoke, acquire, 3)
	s.on(4150*ms, 2, invoke, acquire, 4)
	s.events[len(s.events)-1].Key = "other"
	s.on(4160*ms, 2, ok, acquire, 4)
	s.events[len(s.events)-1].Key = "other"
	s.on(4200*ms, 1, ok, acquire, 3)
	wantSummary(t, drawn(t, s.run(), "acquisitions"),
		"3 acquisitions in 4.200 s; the longest time in which somebody wanted a lock and nobody got it was 100 ms, from 4.100 s on.")
}

func TestHolders(t *testing.T) {
	type grant struct {
		worker   int
		mode     histories.Mode
		from, to time.Duration // 0: open
	}
	tests := []struct {
		name   string
		grants []grant
		want   string
		bad    bool
	}{
		{"one after the other", []grant{{0, "", 10 * ms, 20 * ms}, {1, "", 30 * ms, 40 * ms}}, "Held: k by at most 1 at once; never by more than one who would not share it.", false},
		{"two at once", []grant{{0, "", 10 * ms, 80 * ms}, {1, "", 50 * ms, 90 * ms}}, "Held: k by at most 2 at once; once by more than one who would not share it, for 30 ms together, first k at 0.050 s.", true},
		{"readers", []grant{{0, "read", 10 * ms, 80 * ms}, {1, "read", 50 * ms, 90 * ms}}, "Held: k by at most 2 at once; never by more than one who would not share it.", false},
		{"a writer among readers", []grant{{0, "read", 10 * ms, 80 * ms}, {1, "read", 20 * ms, 70 * ms}, {2, "", 30 * ms, 40 * ms}}, "Held: k by at most 3 at once; once by more than one who would not share it, for 10 ms together, first k at 0.030 s.", true},
		{"re-entry", []grant{{0, "reenter", 10 * ms, 80 * ms}, {0, "reenter", 20 * ms, 70 * ms}}, "Held: k by at most 2 at once; never by more than one who would not share it.", false},
		{"re-entry of another", []grant{{0, "reenter", 10 * ms, 80 * ms}, {1, "reenter", 20 * ms, 70 * ms}}, "Held: k by at most 2 at once; once by more than one who would not share it, for 50 ms together, first k at 0.020 s.", true},
		{"twice, and to the end", []grant{{0, "", 10 * ms, 0}, {1, "", 20 * ms, 30 * ms}, {1, "", 60 * ms, 0}}, "Held: k by at most 2 at once; 2 times by more than one who would not share it, for 50 ms together, first k at 0.020 s.", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s story
			for i, g := range tt.grants {
				n := uint64(i + 1)
				s.on(g.from-ms, g.worker, invoke, acquire, n)
				s.events[len(s.events)-1].Value = string(g.mode)
				s.on(g.from, g.worker, ok, acquire, n)
				if g.to > 0 {
					s.on(g.to, g.worker, invoke, release, n)
					s.on(g.to, g.worker, ok, release, n)
				}
			}
			s.add(100*ms, histories.Event{Process: 9, Worker: 9, Type: info, F: histories.Waited})
			slices.SortStableFunc(s.events, func(a, b histories.Event) int { return int(a.Time - b.Time) })
			for i := range s.events {
				s.events[i].Index = i
			}
			p := drawn(t, s.run(), "holders")
			wantSummary(t, p, tt.want)
			if bad := strings.Contains(p.SVG, `<path class="bad area" d="M`); bad != tt.bad {
				t.Errorf("a violation is drawn: %v, want %v", bad, tt.bad)
			}
		})
	}
}

// Who was granted the lock before the other's release was asked for is a violation, though both
// are at one instant.
func TestHoldersAtOneInstant(t *testing.T) {
	var s story
	s.on(0, 0, invoke, acquire, 1)
	s.on(10*ms, 0, ok, acquire, 1)
	s.on(10*ms, 1, invoke, acquire, 2)
	s.on(20*ms, 1, ok, acquire, 2)
	s.on(20*ms, 0, invoke, release, 1)
	s.on(30*ms, 0, ok, release, 1)
	p := drawn(t, s.run(), "holders")
	wantSummary(t, p, "Held: k by at most 2 at once; once by more than one who would not share it, for 0 ns together, first k at 0.020 s.")
	if !strings.Contains(p.SVG, `<path class="bad area" d="M`) {
		t.Error("the violation is not drawn")
	}
}

func TestLatencyFigures(t *testing.T) {
	var s story
	for i := range uint64(100) { // 1 ms, 2 ms, ... 100 ms
		at := time.Duration(i) * time.Second
		s.on(at, 0, invoke, release, i+1)
		s.on(at+time.Duration(i+1)*ms, 0, ok, release, i+1)
	}
	s.on(100*time.Second, 0, invoke, acquire, 101)
	s.on(100*time.Second, 0, fail, acquire, 101)
	s.on(101*time.Second, 0, invoke, acquire, 102)
	wantSummary(t, drawn(t, s.run(), "latency"),
		"Acquire: none done, 1 refused, 1 of unknown outcome, of which 1 never returned; release: 100 done, half of them within 50 ms, 99% within 99 ms, all within 100 ms.")
}

func TestCommandsAndResources(t *testing.T) {
	r := report.Run{}
	for i := range 30 {
		node := "master"
		if i%3 == 0 {
			node = "replica"
		}
		r.Exchanges = append(r.Exchanges, histories.Exchange{Sent: time.Duration(i) * ms, Node: node, Client: "A", Command: "PING"})
	}
	for i := range 5 {
		r.Samples = append(r.Samples,
			histories.Sample{Time: time.Duration(i) * 10 * ms, Process: "lockbench", PID: 1, CPU: time.Duration(i) * 5 * ms, Resident: 10 << 20},
			histories.Sample{Time: time.Duration(i) * 10 * ms, Process: "master", PID: 2 + i/3, CPU: time.Duration(i%3) * ms, Resident: int64(i) << 20})
	}
	wantSummary(t, drawn(t, r, "commands"), "30 commands in 0.040 s: 10 to replica, 20 to master.")
	// Of master: 1 and 1 ms, then another process with 0 and 1 ms, in 40 ms.
	wantSummary(t, drawn(t, r, "resources"), "lockbench took 50% of a processor and at most 10 MiB; master took 7.5% of a processor and at most 4 MiB.")

	for name, want := range map[string]string{
		"commands": "The run kept no record of what crossed the wire.", "resources": "The run kept no samples of its processes.",
		"latency": "No client called anything.", "acquisitions": "Nobody asked for a lock.", "holders": "Nobody was granted a lock.",
	} {
		p := drawn(t, report.Run{Events: []histories.Event{{Process: 0, Type: info, F: histories.Crash}}}, name)
		wantSummary(t, p, want)
		if p.SVG != "" {
			t.Errorf("%s draws something of nothing: %s", name, p.SVG)
		}
	}
}

func TestVirtualTimeIsNamed(t *testing.T) {
	r := random(100, 3, 1, time.Second)
	r.Backend = "embedded"
	plots, err := plot.Draw(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plots {
		if p.SVG != "" && (!strings.HasSuffix(p.Title, "(simulated time)") || !strings.Contains(p.SVG, "<title>"+p.Title)) {
			t.Errorf("title is %q, want it to say that time is simulated", p.Title)
		}
	}
	r.Backend = "process"
	if p := drawn(t, r, "latency"); strings.Contains(p.Title+p.SVG, "simulated") {
		t.Errorf("%q says that real time is simulated", p.Title)
	}
}
