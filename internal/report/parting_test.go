package report_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// history numbers events, a millisecond apart.
func history(events ...histories.Event) report.Run {
	for i := range events {
		events[i].Index, events[i].Time = i, time.Duration(i)*time.Millisecond
	}
	return report.Run{Events: events}
}

func TestPart(t *testing.T) {
	call := func(worker int, f histories.F, end histories.Type) histories.Event {
		return histories.Event{Process: worker, Worker: worker, F: f, Type: end, Attempt: uint64(worker) + 1}
	}
	hold := func(command string) histories.Event {
		return histories.Event{Process: histories.Nemesis, Worker: histories.Nemesis, F: "hold", Node: "A", Value: command, Type: histories.Invoke}
	}
	a, b := call(0, histories.Acquire, histories.OK), call(1, histories.Acquire, histories.Fail)
	granted, later := call(1, histories.Acquire, histories.OK), a
	later.Attempt, later.Token, later.Process = 77, 5, 9
	for _, c := range []struct {
		name      string
		run, twin report.Run
		want      report.Parting
		parts     bool
	}{
		{"the same", history(a, b), history(a, b), report.Parting{}, false},
		{"another order", history(a, b), history(b, a), report.Parting{}, false},
		{"what no two locks have in common", history(a, hold("GET k")), history(later, hold("EVAL k")), report.Parting{}, false},
		{"another outcome", history(a, granted), history(b, a), report.Parting{Event: 1, Twin: 0, Who: "B"}, true},
		{"it goes on", history(a, b), history(a), report.Parting{Event: 1, Twin: report.None, Who: "B"}, true},
		{"the twin goes on", history(a), history(b, a), report.Parting{Event: report.None, Twin: 0, Who: "B"}, true},
		{"nothing at all", history(), history(), report.Parting{}, false},
	} {
		if got, parts := report.Part(c.run, c.twin); got != c.want || parts != c.parts {
			t.Errorf("%s: they part at %+v, %v; want %+v, %v", c.name, got, parts, c.want, c.parts)
		}
	}
}

// TestAround: the row at which histories part is among those that are told.
func TestAround(t *testing.T) {
	var events []histories.Event
	for i := range 40 {
		e := histories.Event{Process: i % 2, Worker: i % 2, F: histories.Acquire, Key: "k", Attempt: uint64(i/4*2 + i%2 + 1), Type: histories.Invoke}
		if i%4 > 1 {
			e.Type = histories.Fail
		}
		events = append(events, e)
	}
	r := history(events...)
	for _, event := range []int{0, 1, 17, 39} {
		rows, at := report.Around(r, event)
		if at < 0 || at >= len(rows) || rows[at].First > event || rows[at].Last < event {
			t.Errorf("event %d is not in row %d of %d", event, at, len(rows))
		}
	}
	if rows, at := report.Around(r, report.None); at != report.None || len(rows) == 0 {
		t.Errorf("the end of a history has row %d of %d, want none, and the last ones", at, len(rows))
	}
}
