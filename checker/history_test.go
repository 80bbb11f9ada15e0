package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// script reads a hand-made history, one operation per line, times in milliseconds:
//
//	A acquire 1 2 ok ttl=10 deadline=11     invoked at 1, answered at 2
//	A acquire 1 2 ok value=read             a reader's
//	A acquire 1 2 fail answer=invalid       with a value of the answer alone
//	A release 5 - open                      invoked at 5, never answered
//	A crash 7                               a single event
//	! pause 3 8 node=A                      a fault from 3 to 8; "! kill 3 -" never heals
//	! audit 20 node=m1 ttl=none value=x
//	! harness-stall 20 ttl=5                      the harness stood still from 15 to 20
//
// Workers are letters. The key is "k" unless key= says otherwise. An operation
// belongs to its worker's last acquire above it, or to attempt n with attempt=n;
// attempts count from 1 in the order of lines. A worker goes on as a new
// process after an outcome of info and after a crash; proc=n sets its n-th process,
// for calls that overlap. Equal times keep the order of lines.
func script(t testing.TB, text string) []histories.Event {
	t.Helper()
	s := scripted{t: t, attempt: map[int]uint64{}, process: map[int]int{}}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) > 0 {
			s.line(f)
		}
	}
	slices.SortStableFunc(s.events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range s.events {
		s.events[i].Index = i
	}
	return s.events
}

type scripted struct {
	t        testing.TB
	events   []histories.Event
	attempts uint64
	attempt  map[int]uint64 // of each worker, the last
	process  map[int]int    // of each worker, how many are spent
}

func (s *scripted) line(f []string) {
	if f[0] == "!" {
		s.nemesis(f[1:])
		return
	}
	worker := int(f[0][0] - 'A')
	kind := histories.F(f[1])
	e := histories.Event{Worker: worker, F: kind, Key: "k"}
	if kind == histories.Acquire {
		s.attempts++
		s.attempt[worker] = s.attempts
	}
	e.Attempt = s.attempt[worker]
	e.Process = worker + 100*s.process[worker]

	switch kind {
	case histories.Lost, histories.Abandon, histories.Crash, histories.Waited, histories.Hung:
		e.Time = s.ms(f[2])
		s.attributes(&e, f[3:])
		if kind == histories.Crash {
			s.process[worker]++
			e.Key, e.Attempt = "", 0
		}
		s.events = append(s.events, e)
		return
	}

	outcome := f[4]
	done := e
	s.attributes(&done, f[5:])
	e = histories.Event{Worker: worker, F: kind, Process: done.Process, Type: histories.Invoke, Key: done.Key, Attempt: done.Attempt, TTL: done.TTL, Token: done.Token}
	if kind == histories.Acquire || kind == histories.Draw {
		e.Value = done.Value
	}
	e.Time = s.ms(f[2])
	s.events = append(s.events, e)
	if outcome == "open" {
		return
	}
	for _, a := range f[5:] {
		if answer, ok := strings.CutPrefix(a, "answer="); ok {
			done.Value = answer
		}
	}
	done.Time, done.TTL = s.ms(f[3]), 0
	if err := done.Type.UnmarshalText([]byte(outcome)); err != nil {
		s.t.Fatalf("%v: %v", f, err)
	}
	if done.Type == histories.Info {
		s.process[worker]++
	}
	s.events = append(s.events, done)
}

func (s *scripted) nemesis(f []string) {
	e := histories.Event{Process: histories.Nemesis, Worker: histories.Nemesis, F: histories.F(f[0])}
	e.Time = s.ms(f[1])
	if e.Single() {
		if !e.Disturbance() {
			e.Key = "k"
		}
		s.attributes(&e, f[2:])
		s.events = append(s.events, e)
		return
	}
	s.attributes(&e, f[3:])
	e.Type = histories.Invoke
	s.events = append(s.events, e)
	if f[2] == "-" {
		return
	}
	e.Time, e.Type = s.ms(f[2]), histories.OK
	s.events = append(s.events, e)
}

func (s *scripted) attributes(e *histories.Event, f []string) {
	for _, a := range f {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "key":
			e.Key = value
		case "node":
			e.Node = value
		case "value":
			e.Value = value
		case "ttl":
			if value == "none" {
				e.TTL = histories.NoTTL
			} else {
				e.TTL = s.ms(value)
			}
		case "deadline":
			e.Deadline = s.ms(value)
		case "version":
			e.Version = s.number(value)
		case "token":
			e.Token = s.number(value)
		case "attempt":
			e.Attempt = uint64(s.number(value))
		case "error":
			e.Err = value
		case "answer": // for line to set
		case "proc":
			e.Process = e.Worker + 100*int(s.number(value))
		default:
			s.t.Fatalf("no attribute %q", a)
		}
	}
}

func (s *scripted) ms(text string) time.Duration {
	d, err := time.ParseDuration(text + "ms")
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *scripted) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// cite names the events of a witness: "2 A acquire ok".
func cite(events []histories.Event, witness []int) []string {
	var cited []string
	for _, i := range witness {
		e := events[i]
		who := "!"
		if e.Process != histories.Nemesis {
			who = histories.WorkerName(e.Worker)
		}
		cited = append(cited, fmt.Sprintf("%v %s %s %s", float64(e.Time)/1e6, who, e.F, e.Type))
	}
	return cited
}
