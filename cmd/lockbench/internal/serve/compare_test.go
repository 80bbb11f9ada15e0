package serve_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

type comparison struct {
	Schema int
	Meta   []struct {
		Field  string
		Values [2]string
		Same   bool
	}
	Properties []struct {
		Property string
		Results  [2]*struct{ Verdict string }
		Same     bool
	}
	Histories struct {
		Parting         int
		FirstDifference int `json:"first_difference"`
		Before          []histories.Event
		Events          [2][]histories.Event
		Counts          []struct {
			F, Type string
			Count   [2]int
		}
		Totals [2]int
		Damage [2]string
	}
}

// history has n acquires and releases by A, whose instants and attempts depend on the seed.
func history(n int, seed uint64) []histories.Event {
	var events []histories.Event
	for i := range n {
		for j, e := range []histories.Event{
			{Type: histories.Invoke, F: histories.Acquire, TTL: time.Second}, {Type: histories.OK, F: histories.Acquire, TTL: time.Second},
			{Type: histories.Invoke, F: histories.Release}, {Type: histories.OK, F: histories.Release},
		} {
			e.Index, e.Key, e.Attempt = 4*i+j, "orders/42", seed+uint64(i)
			e.Time = time.Duration(e.Index)*time.Millisecond + time.Duration(seed)
			if e.F == histories.Acquire && e.Type == histories.OK {
				e.Deadline = e.Time + time.Second
			}
			events = append(events, e)
		}
	}
	return events
}

func TestComparing(t *testing.T) {
	s := open(t)
	a := history(5, 1)
	other := history(5, 2) // the same, at other instants
	lost := slices.Clone(other)
	lost[9].Type, lost[9].Err, lost[9].Deadline = histories.Fail, "taken", 0
	ids := map[string]string{}
	for name, x := range map[string]sample{
		"a":     {verdict: checker.Pass, events: a},
		"again": {verdict: checker.Pass, events: a},
		"other": {verdict: checker.Pass, events: other},
		"lost":  {verdict: checker.Fail, events: lost},
		"short": {events: a[:7]},
	} {
		x.meta = histories.Meta{Scenario: name, Lock: "setnx", Started: epoch}
		ids[name] = s.keep(x)
	}
	s.write(ids["again"]+"/cut/x", "")
	ids["cut"] = s.keep(sample{meta: histories.Meta{Scenario: "cut", Lock: "setnx", Started: epoch}, events: a[:6]})
	s.write("cut/copy/run.json", `{"schema":1,"scenario":"cut"}`)
	s.write("cut/copy/history.jsonl", s.get(http.StatusOK, "/runs/"+ids["cut"]+"/history.jsonl")+`{"index":6,"ti`)
	ids["cut"] = "cut/copy"
	for name, want := range map[string]struct {
		a, b          string
		parting, diff int
		before        int
		events        [2]int
		says          string
		damaged       bool
	}{
		"the same":           {"a", "again", -1, -1, 0, [2]int{0, 0}, "They do not part: in both the same clients did the same, and it ended the same, at the same instants.", false},
		"at other instants":  {"a", "other", -1, 0, 0, [2]int{0, 0}, "Instants or random values differ from event 0 on.", false},
		"an acquire refused": {"a", "lost", 9, 0, 3, [2]int{3, 3}, "At <strong>event 9</strong>", false},
		"the other way":      {"lost", "a", 9, 0, 3, [2]int{3, 3}, "refused", false},
		"one ends":           {"a", "short", 7, 7, 3, [2]int{3, 0}, "The history has ended.", false},
		"the other ends":     {"short", "a", 7, 7, 3, [2]int{0, 3}, "The history has ended.", false},
		"one is cut short":   {"a", "cut", -1, -1, 0, [2]int{0, 0}, "As far as both could be read, 6 events, they do not part", true},
	} {
		t.Run(name, func(t *testing.T) {
			query := "run=" + ids[want.a] + "&run=" + ids[want.b]
			var c comparison
			s.json("/compare?format=json&"+query, &c)
			h := c.Histories
			if c.Schema != 1 || h.Parting != want.parting || h.FirstDifference != want.diff || (h.Damage != [2]string{}) != want.damaged {
				t.Errorf("got %+v, want %+v", h, want)
			}
			if want.parting >= 0 && len(h.Before) != want.before || len(h.Events[0]) != want.events[0] || len(h.Events[1]) != want.events[1] {
				t.Errorf("told are %d events before, %d and %d from there on, want %+v", len(h.Before), len(h.Events[0]), len(h.Events[1]), want)
			}
			for _, events := range h.Events {
				if len(events) > 0 && events[0].Index != want.parting {
					t.Errorf("the first event told is %d", events[0].Index)
				}
			}
			contains(t, s.get(http.StatusOK, "/compare?"+query), want.says)
		})
	}
	var c comparison
	s.json("/compare?format=json&run="+ids["a"]+"&run="+ids["lost"], &c)
	got := fmt.Sprint(c.Histories.Counts, c.Histories.Totals)
	if want := "[{acquire fail [0 1]} {acquire invoke [5 5]} {acquire ok [5 4]} {release invoke [5 5]} {release ok [5 5]}] [20 20]"; got != want {
		t.Errorf("counts are %s, want %s", got, want)
	}
	differ := []string{}
	for _, m := range c.Meta {
		if !m.Same {
			differ = append(differ, m.Field)
		}
	}
	if diff := cmp.Diff([]string{"scenario"}, differ); diff != "" {
		t.Errorf("fields that differ: %s", diff)
	}
	if len(c.Properties) != 1 || c.Properties[0].Same || c.Properties[0].Results[0].Verdict != "pass" || c.Properties[0].Results[1].Verdict != "fail" {
		t.Errorf("properties are %+v", c.Properties)
	}
	page := s.get(http.StatusOK, "/compare?run="+ids["a"]+"&run="+ids["short"])
	contains(t, page, "not judged", "mutual exclusion <span class=\"diff\">differs</span>")
}

func TestMatrix(t *testing.T) {
	s := open(t)
	run := func(hour int, scenario, pitfall, lock string, verdict checker.Verdict, outcome checker.Outcome) string {
		return s.keep(sample{verdict: verdict, outcome: outcome, meta: histories.Meta{
			Scenario: scenario, Pitfall: pitfall, Lock: lock, Started: epoch.Add(time.Duration(hour) * time.Hour),
		}})
	}
	run(1, "failover", "P14", "setnx", checker.Pass, checker.Unexpected)
	newest := run(3, "failover", "P14", "setnx", checker.Fail, checker.AsExpected)
	run(2, "failover", "P14", "setnx", checker.Pass, checker.Unexpected)
	run(0, "contend", "", "redlock", checker.Unknown, checker.Undecided)
	run(0, "crash", "P01", "redlock", checker.Pass, checker.AsExpected)
	s.write("crash/bad/run.json", "{")
	type doc struct {
		Schema, Runs, Damaged int
		Locks                 []string
		Scenarios             []struct {
			Scenario string
			Runs     []*struct{ ID, Verdict, Outcome string }
		}
	}
	var m doc
	s.json("/matrix?format=json", &m)
	got := fmt.Sprint(m.Schema, m.Runs, m.Damaged, m.Locks)
	for _, row := range m.Scenarios {
		got += " " + row.Scenario
		for _, cell := range row.Runs {
			if cell == nil {
				got += " -"
			} else {
				got += " " + cell.Verdict + "," + cell.Outcome
			}
		}
	}
	if want := "1 6 1 [redlock setnx] crash pass,expected - failover - fail,expected contend , -"; got != want {
		t.Errorf("the matrix is\n%s, want\n%s", got, want)
	}
	page := s.get(http.StatusOK, "/matrix")
	contains(t, page, `href="/runs/`+newest+`/"`, "FAIL", "not run", "1 is damaged", "2026-11-21 13:00:00", "2026-11-21 10:00:00")
	m = doc{}
	s.json("/matrix?format=json&lock=setnx", &m)
	if fmt.Sprint(m.Locks, len(m.Scenarios)) != "[setnx] 1" {
		t.Errorf("the filtered matrix is %+v", m)
	}
}

// TestMatrixOfAnyNames: a store with many made-up names makes no page of all their pairs.
func TestMatrixOfAnyNames(t *testing.T) {
	s := open(t)
	for i := range 400 {
		s.write(fmt.Sprintf("s%d/r/run.json", i), fmt.Sprintf(`{"schema":1,"scenario":"s%d","lock":"l%[1]d","phase":"recorded"}`, i))
	}
	page := s.get(http.StatusOK, "/matrix")
	contains(t, page, "400 more locks and scenarios do not fit here")
	if most := 10 << 20; len(page) > most {
		t.Errorf("the page has %d bytes, want at most %d", len(page), most)
	}
}
